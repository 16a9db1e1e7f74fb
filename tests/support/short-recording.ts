import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import type { RecordingMeta } from '../../ingest/shared/recorded/types.js';

/** 2026-03-23T00:00Z: before it stands half of the transactions. */
const UNTIL_S = 1_774_224_000;

/**
 * Environment of a product that loads half of the recorded history and stops there: for tests that load it again and again under failures. The rest of the
 * recording is as it is. Made once in a run of the tests.
 */
export function shortHistory(): { readonly RECORDED_HISTORY_ONLY: '1'; readonly RECORDED_DIR: string } {
  const dir = join(inject('runDir'), 'short-recording');
  if (!existsSync(dir)) {
    const making = mkdtempSync(`${dir}-`);
    cpSync(resolve('tests/recorded/set'), making, { recursive: true });
    const file = join(making, 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as RecordingMeta;
    writeFileSync(file, JSON.stringify({ ...manifest, tail: { ...manifest.tail, history_until_s: UNTIL_S } }));
    try {
      renameSync(making, dir);
    } catch (error) {
      // Another file of tests was faster.
      if (!existsSync(dir)) throw error;
    }
  }
  return { RECORDED_HISTORY_ONLY: '1', RECORDED_DIR: dir };
}
