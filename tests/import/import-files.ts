import { execFile } from 'node:child_process';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../dist/infra/import/main.js');

type Row = Readonly<Record<string, string>>;

/** CSV with the names of the first row's fields. */
export const csvOf = (rows: readonly Row[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((line) => `${line.join(',')}\n`).join('');

export const wallet = `0x${'ab'.repeat(20)}`;

/** Where the only log of a block is. */
export const placeOf = (block: number): Row => ({
  ...{ block_number: String(block), log_index: '1', tx_hash: `0x${block.toString(16).padStart(64, '0')}` },
});

/** Rows of trade_parties as an export has them, one per block. */
export const parties = (day: string, blocks: readonly number[], values: Row = {}): string =>
  csvOf(
    blocks.map((block) => ({
      ...placeOf(block),
      ...{ condition_id: `0x${'11'.repeat(32)}`, traded_at: `${day} 12:00:00.000`, wallet, slug: 's', event_slug: 'e' },
      ...{ outcome: 'Yes', token_id: '1', is_taker: 'true', side: 'BUY', shares: '2', party_usd: '1', fee_usd: '0' },
      ...{ fee_shares: '0', counterparty: wallet, builder: '', exchange_version: '1', order_hash: '', ...values },
    })),
  );

/** Name of an exported file of a UTC day, from 0 to `toHour` if no other hour is named. */
export function nameOf(day: string, dataset = 'trade_parties', fromHour = 0, toHour = 12): string {
  const timeOf = (hour: number) => `${day.replaceAll('-', '')}T${String(hour).padStart(2, '0')}0000Z`;
  return `${dataset}_${timeOf(fromHour)}_${timeOf(toHour)}.csv`;
}

/** `npm run import -- <from> --out <out>`. */
export const runImport = (
  from: string,
  out: string,
  { nodeOptions = [], env = {} }: { readonly nodeOptions?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
) =>
  new Promise<{ code: unknown; signal: unknown; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [...nodeOptions, program, from, '--out', out],
      { env: { PATH: process.env.PATH, ...env } },
      (error, stdout, err) => resolve({ code: error?.code ?? 0, signal: error?.signal ?? null, out: stdout, err }),
    );
  });
