import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { type ApiHarness, startApi } from '../support/api.js';

const EXCHANGE = '0xe111180000d2663c0091e4f400237545b87b996b';
const NOW = Date.UTC(2026, 2, 4, 12);
interface Status {
  readonly alarms: readonly object[] | null;
  readonly history: { readonly complete_from_block: number | null; readonly complete_from: string | null };
}
let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: NOW });
  key = await api.key('enterprise');
});
afterAll(() => api.stop());
const status = async () => {
  api.clock.nowMs += 31_000;
  return api.ok<Status>('/v1/status', key);
};

describe('/v1/status alarms', () => {
  it('is empty while every event is known', async () => {
    expect((await status()).alarms).toEqual([]);
  });

  it('has an alarm per unknown event of a watched contract, newest first', async () => {
    const log = (block_number: number, log_index: number, topics: string[], address = EXCHANGE) => ({
      block_number,
      log_index,
      timestamp: 1_790_000_000 + block_number,
      tx_hash: `0x${block_number}`,
      address,
      topics,
      data: '0x',
      _offset: block_number,
    });
    await api.clickhouse.insertRows('unknown_logs', [
      log(100, 1, ['0xaa', '0x01']),
      log(100, 1, ['0xaa', '0x01']),
      log(102, 0, ['0xaa', '0x02']),
      log(103, 5, [], '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb'),
    ]);
    expect((await status()).alarms).toEqual([
      expect.objectContaining({ kind: 'unknown_event', contract: 'contract:pusd', topic0: null, logs: 1 }),
      {
        kind: 'unknown_event',
        message:
          'Contract exchange_v2 emits an event unknown to this version, 0xaa: the venue changed its contracts, and no table contains these events. Update the decoder.',
        contract: 'contract:exchange_v2',
        address: EXCHANGE,
        topic0: '0xaa',
        logs: 2,
        first_block: 100,
        last_block: 102,
        last_at: new Date((1_790_000_000 + 102) * 1000).toISOString().replace('.000', ''),
        tx_hash: '0x102',
      },
    ]);
  });

  it('is null while the tables cannot be read', async () => {
    api.faults.tables = new RetryableError('down');
    const { alarms } = await status();
    api.faults.tables = null;
    expect(alarms).toBeNull();
  });

  it('history.complete_from_block is the first block after the newest gap', async () => {
    // One block per minute, without blocks 120 to 129: a gap of 11 minutes.
    await api.clickhouse.command(
      `INSERT INTO blocks (block_number, timestamp, _offset) SELECT 100 + number, toDateTime('2026-03-01 00:00:00', 'UTC') + number * 60, number FROM numbers(60) WHERE number < 20 OR number >= 30`,
    );
    expect((await status()).history).toEqual({ complete_from_block: 130, complete_from: '2026-03-01T00:30:00Z' });
    // Ten minutes are not a gap.
    await api.clickhouse.command(
      `INSERT INTO blocks (block_number, timestamp, _offset) VALUES (120, toDateTime('2026-03-01 00:20:00', 'UTC'), 900)`,
    );
    expect((await status()).history).toEqual({ complete_from_block: 100, complete_from: '2026-03-01T00:00:00Z' });
  });
});
