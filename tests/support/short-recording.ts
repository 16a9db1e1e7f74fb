import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { copyRecordingUntil } from './recording-until.js';

/** 2026-03-22T22:00Z: a quarter of the transactions are earlier. */
const UNTIL_S = 1_774_216_800;

/**
 * Environment of a product that loads a quarter of the recorded history and stops there, for tests that load it repeatedly with failures. The rest of
 * the recording is unchanged. Created once per test run.
 */
export function shortHistory(): { readonly RECORDED_HISTORY_ONLY: '1'; readonly RECORDED_DIR: string } {
  const dir = join(inject('runDir'), 'short-recording');
  if (!existsSync(dir)) {
    const draft = mkdtempSync(`${dir}-`);
    copyRecordingUntil(draft, UNTIL_S);
    try {
      renameSync(draft, dir);
    } catch (error) {
      // Another test file may have created the directory meanwhile.
      if (!existsSync(dir)) throw error;
    }
  }
  return { RECORDED_HISTORY_ONLY: '1', RECORDED_DIR: dir };
}
