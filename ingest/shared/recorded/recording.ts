import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { FatalError } from '../../../infra/errors.js';
import type { Hex } from '../../../schemas/primitives/hash.js';
import { openColumns } from './columns.js';
import { seriesOf, tagsOf } from './series.js';
import type { GammaObject, RecordedChain, RecordedMarket, RecordedTick, Recording, RecordingMeta } from './types.js';

interface ManifestEntry {
  readonly encoding: 'brotli' | 'raw';
  readonly bytes: number;
  readonly files: readonly { readonly file: string; readonly bytes: number; readonly sha256: string }[];
}

interface Manifest extends RecordingMeta {
  readonly parts: Readonly<Record<'ticks' | 'catalog' | 'chain' | 'hashes', ManifestEntry>>;
}

type StoredMarket = Omit<RecordedMarket, 'strikeE18' | 'raw' | 'shiftDays'> & {
  readonly strikeE18?: string | null;
  readonly raw?: GammaObject;
};

interface StoredCatalog {
  readonly day_constants: GammaObject;
  readonly markets: readonly StoredMarket[];
  readonly gamma_events: readonly GammaObject[];
  readonly wallets: readonly Hex[];
}

function readEntry(dir: string, name: string, part: ManifestEntry): Buffer {
  const chunks = part.files.map(({ file, sha256 }) => {
    let chunk: Buffer;
    try {
      chunk = readFileSync(path.join(dir, file));
    } catch (error) {
      throw new FatalError(`Recorded set: cannot read ${file}`, { cause: error });
    }
    if (createHash('sha256').update(chunk).digest('hex') !== sha256)
      throw new FatalError(`Recorded set: ${file} is damaged`);
    return chunk;
  });
  const joined = Buffer.concat(chunks);
  const bytes = part.encoding === 'raw' ? joined : brotliDecompressSync(joined);
  if (bytes.length !== part.bytes) throw new FatalError(`Recorded set: part ${name} has ${bytes.length} bytes`);
  return bytes;
}

function* readTicks(bytes: Buffer): Generator<RecordedTick> {
  const columns = openColumns(bytes);
  const second = columns.numbers('second');
  const zeros = columns.numbers('zeros');
  const mantissa = columns.bigints('mantissa');
  const serverDelay = columns.numbers('server_delay_ms');
  const receivedDelay = columns.numbers('received_delay_ms');
  const powers = Array.from({ length: 30 }, (_, i) => 10n ** BigInt(i));
  for (let i = 0; i < second.length; i++) {
    const timestampMs = second[i]! * 1000;
    const serverMs = timestampMs + serverDelay[i]!;
    const priceE18 = mantissa[i]! * powers[zeros[i]!]!;
    yield { timestampMs, priceE18, serverMs, receivedMs: serverMs + receivedDelay[i]! };
  }
}

function readChain(bytes: Buffer, hashes: Buffer, wallets: readonly Hex[]): RecordedChain {
  const { numbers } = openColumns(bytes);
  return {
    wallets,
    hashes,
    timeS: numbers('time'),
    source: numbers('source'),
    actions: numbers('actions'),
    kind: numbers('kind'),
    market: numbers('market'),
    makers: numbers('makers'),
    takerWallet: numbers('taker_wallet'),
    takerBits: numbers('taker_bits'),
    takerUsdc: numbers('taker_usdc'),
    takerShares: numbers('taker_shares'),
    takerFee: numbers('taker_fee'),
    legWallet: numbers('leg_wallet'),
    legBits: numbers('leg_bits'),
    legUsdc: numbers('leg_usdc'),
    legShares: numbers('leg_shares'),
    userWallet: numbers('user_wallet'),
    userAmount: numbers('user_amount'),
  };
}

/**
 * Opens a recorded set: `dir` or its folder `set` contains `manifest.json`. Verifies the SHA-256 of every file. Throws FatalError when the
 * set is missing or damaged. Ticks and chain columns are decoded on first use.
 */
export function openRecording(folder: string): Recording {
  const dir = existsSync(path.join(folder, 'manifest.json')) ? folder : path.join(folder, 'set');
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(path.join(dir, 'manifest.json'), 'utf8')) as Manifest;
  } catch (error) {
    throw new FatalError(`Recorded set: no readable manifest.json in ${dir}`, { cause: error });
  }
  if (manifest.format !== 1) throw new FatalError(`Recorded set: format ${manifest.format} is not known`);
  const { parts, ...meta } = manifest;
  const catalog = JSON.parse(readEntry(dir, 'catalog', parts.catalog).toString('utf8')) as StoredCatalog;
  const markets = catalog.markets.map(
    (stored, index): RecordedMarket => ({
      ...stored,
      strikeE18: typeof stored.strikeE18 === 'string' ? BigInt(stored.strikeE18) : null,
      raw:
        stored.raw === undefined
          ? null
          : index < meta.day.markets
            ? { ...catalog.day_constants, ...stored.raw }
            : stored.raw,
      shiftDays: null,
    }),
  );
  let chain: RecordedChain | undefined;
  return {
    meta,
    ticks: () => readTicks(readEntry(dir, 'ticks', parts.ticks)),
    markets,
    gammaEvents: catalog.gamma_events,
    series: seriesOf(markets),
    tags: tagsOf(catalog.gamma_events),
    chain() {
      chain ??= readChain(
        readEntry(dir, 'chain', parts.chain),
        readEntry(dir, 'hashes', parts.hashes),
        catalog.wallets,
      );
      return chain;
    },
  };
}
