import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '../../../infra/errors.js';
import {
  IMPORT_FORMAT,
  type ImportedChainFile,
  type ImportedChainRow,
  type ImportedFile,
  type ImportedMarket,
  type ImportedTick,
  type ImportManifest,
} from '../../../infra/import/format.js';
import { linesOf } from '../../../infra/import/lines.js';

/** A recorded source that `npm run import` has written from exported files. */
export interface Imported {
  readonly manifest: ImportManifest;
  readonly markets: readonly ImportedMarket[];
  /** Whether a condition's tokens have wrapped collateral. */
  isNegRisk(condition: string): boolean;
  /** Rows of the blocks in a range, both ends inclusive, in chain order. */
  chainRows(fromBlock: number, toBlock: number): AsyncIterable<ImportedChainRow>;
  /** By time. */
  ticks(): AsyncIterable<ImportedTick>;
}

/** Earlier versions wrote the markets as one array. */
async function marketsOf(path: string): Promise<ImportedMarket[]> {
  if (path.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8')) as ImportedMarket[];
  const markets: ImportedMarket[] = [];
  for await (const market of linesOf<ImportedMarket>(path)) markets.push(market);
  return markets;
}

async function verify(dir: string, { file, sha256 }: ImportedFile): Promise<void> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(join(dir, file))) hash.update(chunk as Buffer);
  } catch (error) {
    throw new FatalError(`Imported files: cannot read ${file}`, { cause: error });
  }
  if (hash.digest('hex') !== sha256) throw new FatalError(`Imported files: ${file} is damaged; repeat npm run import`);
}

/** Opens the directory; null if it is the project's own kind of recording. Verifies all files. Throws FatalError for missing or damaged ones. */
export async function openImported(dir: string): Promise<Imported | null> {
  const path = join(dir, 'manifest.json');
  if (!existsSync(path)) return null;
  let manifest: ImportManifest;
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as ImportManifest;
  } catch (error) {
    throw new FatalError(`Recorded set: no readable manifest.json in ${dir}`, { cause: error });
  }
  if (manifest.format !== IMPORT_FORMAT) return null;
  for (const file of [...manifest.chain, ...manifest.ticks, manifest.markets]) await verify(dir, file);
  const markets = await marketsOf(join(dir, manifest.markets.file));
  const negRisk = new Set(markets.filter((market) => market.neg_risk).map(({ condition }) => condition));
  const overlaps = (file: ImportedChainFile, fromBlock: number, toBlock: number) =>
    file.first_block <= toBlock && file.last_block >= fromBlock;
  return {
    manifest,
    markets,
    isNegRisk: (condition) => negRisk.has(condition),
    async *chainRows(fromBlock, toBlock) {
      for (const file of manifest.chain) {
        if (!overlaps(file, fromBlock, toBlock)) continue;
        for await (const row of linesOf<ImportedChainRow>(join(dir, file.file))) {
          if (row.block > toBlock) return;
          if (row.block >= fromBlock) yield row;
        }
      }
    },
    async *ticks() {
      for (const { file } of manifest.ticks) yield* linesOf<ImportedTick>(join(dir, file));
    },
  };
}
