import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openEngine } from '../../infra/clickhouse/embedded/engine.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { decodeBlock } from '../../ingest/chain/decode/index.js';
import { createImportedChainSource } from '../../ingest/chain/imported/imported-source.js';
import { importedCatalog } from '../../ingest/shared/imported/catalog.js';
import { openImported } from '../../ingest/shared/imported/open-imported.js';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { csvOf, nameOf, parties, placeOf, runImport, wallet } from './import-files.js';

const DAY = '2026-04-06';
const conditionOf = (block: number) => `0x${String(block).padStart(64, '0')}`;
const names = (block: number) => ({
  condition_id: conditionOf(block),
  slug: `market-${block}`,
  event_slug: 'e',
  wallet,
});

/** Of markets that were traded and resolved before the day: block, `is_neg_risk` and who redeemed, or a split. */
const rows = [
  { block: 101, isNegRisk: '\\N', through: 'AutoRedeemer.NegRiskRedemption' },
  { block: 102, isNegRisk: '\\N', through: 'AutoRedeemer.BinaryRedemption' },
  { block: 103, isNegRisk: 'true', through: '' },
  { block: 104, isNegRisk: 'false', through: '' },
  { block: 105, isNegRisk: '\\N', through: '' },
  { block: 106, isNegRisk: 'true', through: null },
  { block: 107, isNegRisk: 'false', through: null },
] as const;

const redemptions = csvOf(
  rows.flatMap(({ block, isNegRisk, through }) =>
    through === null
      ? []
      : [
          {
            ...{ redeemed_at: `${DAY} 12:00:00.000`, payout_usd: '3', redeemed_through: through, ...names(block) },
            ...{ ...placeOf(block), index_sets: `"['1','2']"`, is_neg_risk: isNegRisk },
          },
        ],
  ),
);
const splits = csvOf(
  rows.flatMap(({ block, isNegRisk, through }) =>
    through !== null
      ? []
      : [
          {
            ...{ happened_at: `${DAY} 12:00:00.000`, kind: 'split', neg_risk_market_id: '', amount: '4' },
            ...{ ...names(block), ...placeOf(block), index_sets: '"[]"', is_neg_risk: isNegRisk },
          },
        ],
  ),
);
const withoutLastColumn = (csv: string) => csv.replaceAll(/,[^,\n]*\n/g, '\n');

const root = mkdtempSync(join(tmpdir(), 'oddstream-import-neg-risk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Collaterals of the redemptions and splits of the product that reads an import, and the markets of its catalogue. */
async function imported(name: string, files: Readonly<Record<string, string>>) {
  const [folder, out] = [join(root, name), join(root, `${name}-out`)];
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const result = await runImport(folder, out);
  expect(result).toMatchObject({ code: 0, err: '' });
  const opened = await openImported(out);
  if (opened === null) throw new Error('no import');
  const { signal } = new AbortController();
  const collaterals: Record<number, string> = {};
  const sources: Record<number, string | null> = {};
  for await (const block of createImportedChainSource(opened).history({ fromBlock: 1, toBlock: 1_000 }, signal))
    for (const { kind, value } of decodeBlock(block).events) {
      if (kind !== 'redemption' && kind !== 'position_split') continue;
      collaterals[block.number] = value.collateral_token;
      if (kind === 'redemption') sources[block.number] = value.source;
    }
  const catalogue = Object.fromEntries(
    importedCatalog(opened).markets.map(({ slug, negRisk, tokenIds }) => [slug, { negRisk, tokenIds }]),
  );
  return { collaterals, sources, catalogue, printed: result.out };
}

const trades = { [nameOf(DAY)]: parties(DAY, [100], { slug: '', condition_id: '' }) };
const plain = (block: number) => ({ negRisk: false, tokenIds: tokenPair(addresses.usdcE, conditionOf(block)) });
const wrapped = (block: number) => ({
  negRisk: true,
  tokenIds: tokenPair(addresses.wrappedCollateral, conditionOf(block)),
});

describe('a market without a trade and a resolution in the imported files', () => {
  it('is neg-risk or not as its redemptions, splits and merges say, and in the catalogue only if one does', async () => {
    const found = await imported('rows', {
      ...trades,
      [nameOf(DAY, 'redemptions')]: redemptions,
      [nameOf(DAY, 'splits_merges')]: splits,
    });
    expect(found.collaterals).toMatchObject({
      ...{ 101: addresses.wrappedCollateral, 102: addresses.usdcE, 103: addresses.wrappedCollateral },
      ...{ 104: addresses.usdcE, 106: addresses.wrappedCollateral, 107: addresses.usdcE },
    });
    expect(Object.keys(found.collaterals)).toHaveLength(rows.length);
    expect(found.sources).toEqual({
      ...{
        101: 'AutoRedeemer.NegRiskRedemption',
        102: 'AutoRedeemer.BinaryRedemption',
        103: null,
        104: null,
        105: null,
      },
    });
    expect(found.catalogue).toEqual({
      ...{ 'market-101': wrapped(101), 'market-102': plain(102), 'market-103': wrapped(103), 'market-104': plain(104) },
      ...{ 'market-106': wrapped(106), 'market-107': plain(107) },
    });
    expect(found.printed).toContain('Note: the files do not say whether 1 of the markets is neg-risk');
  });

  it.each(['csv', 'parquet'])('is known by the AutoRedeemer alone in %s files of earlier versions', async (format) => {
    const older = {
      [nameOf(DAY, 'redemptions')]: withoutLastColumn(redemptions),
      [nameOf(DAY, 'splits_merges')]: withoutLastColumn(splits),
    };
    expect(Object.values(older).join('')).not.toContain('is_neg_risk');
    const name = `older-${format}`;
    if (format === 'parquet') {
      mkdirSync(join(root, name));
      const engine = await openEngine({
        ...{ directory: join(root, 'engine'), memoryBytes: 512 * 1024 ** 2, logger: silentLogger() },
      });
      for (const [file, text] of Object.entries(older)) {
        writeFileSync(join(root, file), text);
        const to = join(root, name, file.replace('.csv', '.parquet'));
        await engine.queryText(
          `SELECT * FROM file('${join(root, file)}', CSVWithNames) INTO OUTFILE '${to}' FORMAT Parquet`,
        );
      }
      await engine.close();
    }
    const found = await imported(name, format === 'csv' ? { ...trades, ...older } : trades);
    expect(Object.keys(found.collaterals)).toHaveLength(rows.length);
    expect(found.catalogue).toEqual({ 'market-101': wrapped(101), 'market-102': plain(102) });
    expect(found.printed).toContain('Note: the files do not say whether 5 of the markets are neg-risk');
  });
});
