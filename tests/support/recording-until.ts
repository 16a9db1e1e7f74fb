import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RecordingMeta } from '../../ingest/shared/recorded/types.js';

/** Copies the recorded set into the existing directory `dir`, with a history that ends at `untilS`; the rest is unchanged. */
export function copyRecordingUntil(dir: string, untilS: number): void {
  cpSync(resolve('tests/recorded/set'), dir, { recursive: true });
  const file = join(dir, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as RecordingMeta;
  writeFileSync(file, JSON.stringify({ ...manifest, tail: { ...manifest.tail, history_until_s: untilS } }));
}
