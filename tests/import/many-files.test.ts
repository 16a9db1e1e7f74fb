import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Imported, openImported } from '../../ingest/shared/imported/open-imported.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { nameOf, parties, runImport } from './import-files.js';

const DAYS = 18;
const HOURS = 24;
const dayOf = (index: number) => `2026-04-${String(index + 1).padStart(2, '0')}`;
const hours = Array.from({ length: DAYS * HOURS }, (_, index) => index);
const blockOf = (hour: number) => 1_000 + hour;
/** A market per day, and one that is traded on the first and on the last day. */
const dailyCondition = (day: number) => `0x${String(day + 10).repeat(32)}`;
const LONG = `0x${'fe'.repeat(32)}`;
const longTokens = tokenPair(addresses.usdcE, LONG);

describe('an import of more files than a statement can name', () => {
  const root = mkdtempSync(join(tmpdir(), 'oddstream-import-many-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const [files, out] = [join(root, 'files'), join(root, 'out')];
  let imported: Imported | null;

  beforeAll(async () => {
    mkdirSync(files);
    for (const hour of hours) {
      const [day, ofDay] = [Math.floor(hour / HOURS), hour % HOURS];
      const condition = dailyCondition(day);
      const daily = { condition_id: condition, token_id: tokenPair(addresses.usdcE, condition)[0], slug: `day-${day}` };
      const values =
        hour === 0
          ? { condition_id: LONG, token_id: longTokens[0], slug: 'long', outcome: 'Rivers' }
          : hour === hours.length - 1
            ? { condition_id: LONG, token_id: longTokens[1], slug: 'long', outcome: 'Lakes' }
            : daily;
      writeFileSync(
        join(files, nameOf(dayOf(day), 'trade_parties', ofDay, ofDay + 1)),
        parties(dayOf(day), [blockOf(hour)], values),
      );
    }
    expect(await runImport(files, out)).toMatchObject({ code: 0, err: '' });
    imported = await openImported(out);
  }, 120_000);

  it('has the rows of all files', async () => {
    const blocks: number[] = [];
    for await (const { block } of imported?.chainRows(0, 10_000) ?? []) blocks.push(block);
    expect(blocks).toEqual(hours.map(blockOf));
  });

  it('has each market once, with what the files of different days say', () => {
    const daily = Array.from({ length: DAYS }, (_, day) => ({ condition: dailyCondition(day), slug: `day-${day}` }));
    expect(imported?.markets.map(({ condition, slug }) => ({ condition, slug }))).toEqual([
      ...daily,
      { condition: LONG, slug: 'long' },
    ]);
    expect(imported?.markets.at(-1)).toMatchObject({ tokens: longTokens, outcomes: ['Rivers', 'Lakes'] });
  });

  it('opens with the one array of markets that earlier versions wrote', async () => {
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
    const { file } = manifest.markets;
    const array = JSON.stringify(
      gunzipSync(readFileSync(join(out, file)))
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    const sha256 = createHash('sha256').update(array).digest('hex');
    const earlier = `markets-${sha256.slice(0, 12)}.json`;
    renameSync(join(out, file), join(out, earlier));
    writeFileSync(join(out, earlier), array);
    writeFileSync(
      join(out, 'manifest.json'),
      JSON.stringify({ ...manifest, markets: { ...manifest.markets, file: earlier, sha256 } }),
    );
    expect((await openImported(out))?.markets).toEqual(imported?.markets);
  });
});
