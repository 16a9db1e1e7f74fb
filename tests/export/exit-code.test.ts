import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { chainSink } from '../../processors/chain/sink.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { createProgressWriter } from '../../processors/sink/progress-table.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import { emptyTables, startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { freePorts } from '../support/ports.js';
import { insertRecords } from '../support/positions.js';
import { blockAt } from './block-at.js';

const program = join(import.meta.dirname, '../../dist/infra/export/main.js');
const DATABASE = 'market';
const LAST_BLOCK_MS = Date.parse('2026-03-22T06:00:00Z');

describe('the exit code of an export', () => {
  const out = mkdtempSync(join(tmpdir(), 'oddstream-export-code-'));
  let engine: TestClickHouse;
  let readyz: Server;
  beforeAll(async () => {
    engine = await startMigratedClickHouse();
    const { client } = engine;
    await publishViews({ client, database: DATABASE, views: publicViews, logger: silentLogger() });
    readyz = createServer((_, response) => response.end('{}'));
    await new Promise<void>((resolve) => readyz.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    readyz?.close();
    await engine?.stop();
    rmSync(out, { recursive: true, force: true });
  });

  /** Exports to `name` with processors, whose tables are complete, at `port` of this machine. */
  const run = (args: string, name: string, port = (readyz.address() as AddressInfo).port) =>
    new Promise<{ code: unknown; err: string }>((resolve) => {
      const env = {
        ...{ PATH: process.env.PATH, CLICKHOUSE_URL: engine.url, ANALYST_DATABASE: DATABASE },
        CLICKHOUSE_DATABASE: engine.client.database,
        ...{ ADMIN_PORT_PROCESSORS: String(port), ODDSTREAM_DATA: join(out, 'data') },
      };
      execFile(process.execPath, [program, ...args.split(' '), '--out', join(out, name)], { env }, (error, _, err) =>
        resolve({ code: error?.code ?? 0, err }),
      );
    });
  const written = (name: string) => (existsSync(join(out, name)) ? readdirSync(join(out, name)) : null);

  it('is 75 for tables without a block', async () => {
    await emptyTables(engine.client);
    for (const dataset of ['trades', 'ticks'])
      expect(await run(`${dataset} --from 2026-03-22`, 'empty')).toEqual({
        code: 75,
        err: 'Nothing is indexed yet: repeat the command later\n',
      });
    expect(written('empty')).toBeNull();
  });

  it('is 0 when the chain is indexed up to --to, else 75 after writing what there is', async () => {
    await insertRecords(engine.client, chainSink, [
      blockAt([100, LAST_BLOCK_MS - 2000]),
      blockAt([101, LAST_BLOCK_MS]),
    ]);
    expect(await run('trades --from 2026-03-22 --to 2026-03-22T06:00:01Z', 'reached')).toEqual({ code: 0, err: '' });
    expect(await run('trades --from 2026-03-22 --to 2026-03-22T06:00:02Z', 'beyond')).toEqual({
      code: 75,
      err: 'Indexed up to 2026-03-22T06:00:00Z: the export ends there, before --to. Repeat the command later for the rest\n',
    });
    for (const name of ['reached', 'beyond'])
      expect(written(name)).toEqual(['trades_20260322T000000Z_20260322T060001Z.parquet']);
  });

  it('is 75 when no processors respond, unless --force is given', async () => {
    const [closed] = await freePorts(1);
    const args = 'trades --from 2026-03-22 --to 2026-03-22T05:00:00Z';
    expect(await run(args, 'forced', closed)).toEqual({ code: 75, err: expect.stringContaining('add --force') });
    expect(written('forced')).toBeNull();
    expect(await run(`${args} --force`, 'forced', closed)).toEqual({ code: 0, err: '' });
    expect(written('forced')).toEqual(['trades_20260322T000000Z_20260322T050000Z.parquet']);
  });

  it('is 75 while a task of other processors is behind, though those of this machine are ready', {
    timeout: 240_000,
  }, async () => {
    const args = 'pnl_events --from 2026-03-22 --to 2026-03-22T05:00:00Z';
    const activity = { topic: 'wallet.activity', partition: 0 };
    const onLog = async (work: (log: Awaited<ReturnType<typeof openLog>>) => Promise<unknown>) => {
      const log = await openLog(`lmdb:${join(out, 'data', 'log')}`, { logger: silentLogger() });
      await log.ensureTopics(topicsOnOneMachine);
      await work(log).finally(() => log.close());
    };
    await onLog((log) => log.append(activity.topic, [{ key: '0x01', value: Buffer.from('1'), timestampMs: 1 }]));
    const loading = { code: 75, err: expect.stringMatching(/^The tables are still loading/) };
    expect(await run(args, 'behind')).toEqual(loading);
    // The processor has read the record; the sink has not written it.
    await onLog((log) => log.commit('positions-0', [{ ...activity, nextOffset: 1 }]));
    expect(await run(args, 'behind')).toEqual(loading);
    expect(written('behind')).toBeNull();
    const progress = createProgressWriter({ store: engine.client, logger: silentLogger() });
    progress.report({ sink: 'wallet_activity', ...activity, nextOffset: 1, recordKey: '0x01', recordTimeMs: 1 });
    await progress.run(AbortSignal.abort());
    expect(await run(args, 'behind')).toEqual({ code: 0, err: '' });
    expect(written('behind')).toEqual(['pnl_events_20260322T000000Z_20260322T050000Z.parquet']);
  });

  it('is 78 for the log of other tables', async () => {
    const progress = createProgressWriter({ store: engine.client, logger: silentLogger() });
    const sink = { sink: 'fills', topic: 'chain.final', partition: 0 };
    progress.report({ ...sink, nextOffset: 7, recordKey: '100', recordTimeMs: 1 });
    await progress.run(AbortSignal.abort());
    expect(await run('trades --from 2026-03-22 --to 2026-03-22T05:00:00Z', 'other')).toEqual({
      code: 78,
      err: 'The tables have records of chain.final/0 that the log does not have: set LOG_URL and ODDSTREAM_DATA as for processors\n',
    });
    expect(written('other')).toBeNull();
  });
});
