import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exportedFiles, missingDatasets } from './exported-files.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});
function folderOf(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'oddstream-exported-'));
  folders.push(folder);
  for (const name of names) writeFileSync(join(folder, name), '');
  return folder;
}
const name = (dataset: string, day: string, format = 'csv') => `${dataset}_${day}T000000Z_${day}T120000Z.${format}`;

describe('exported files of a directory', () => {
  it('are recognised by their names, other files are ignored', () => {
    const folder = folderOf(
      name('trade_parties', '20260405', 'parquet'),
      name('ticks', '20260406'),
      name('pnl_events', '20260405'),
      `${name('ticks', '20260406')}.partial`,
      'notes.csv',
    );
    expect(exportedFiles(folder).map(({ dataset, day, format }) => [dataset, day, format])).toEqual([
      ['ticks', '2026-04-06', 'csv'],
      ['trade_parties', '2026-04-05', 'parquet'],
    ]);
  });

  it('must contain parties of trades or ticks', () => {
    expect(() => exportedFiles(folderOf(name('redemptions', '20260405')))).toThrow(
      /no exported files of trade_parties/,
    );
    expect(() => exportedFiles(folderOf(name('trades', '20260405')))).toThrow(/lack the takers' orders/);
    expect(() => exportedFiles('/nope')).toThrow(/not a readable directory/);
  });

  it('are reported with what an import lacks without the other datasets', () => {
    const files = exportedFiles(folderOf(name('trade_parties', '20260405'), name('resolutions', '20260405')));
    expect(missingDatasets(files)).toEqual([
      'No file of redemptions for 2026-04-05: redeemed positions stay open.',
      'No file of splits_merges for 2026-04-05: shares that were split or merged are missing or stay.',
    ]);
  });
});
