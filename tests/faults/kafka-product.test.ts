import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTcpProxy } from '../support/anvil.js';
import { startClickHouseProcess } from '../support/clickhouse-process.js';
import { digest, untilTablesComplete } from '../support/digest.js';
import { startTestKafka, type TestKafka, whyNoKafka } from '../support/kafka.js';
import { eventually, type ProcessName, type Product, startProduct } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { startTestRegistry } from '../support/schema-registry.js';
import { shortHistory } from '../support/short-recording.js';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.js';

const missing = await whyNoKafka();
const noDisk = whyNoSmallDisk();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ownProcesses = ['ingest', 'processors', 'stream', 'api', 'stream-gateway'] as const;
/** Duration of the ClickHouse outage; a manual run may set a longer one. */
const CLICKHOUSE_DOWN_MS = Number(process.env.ODDSTREAM_TEST_AWAY_MS ?? 12_000);

async function start(options: Parameters<typeof startProduct>[0]): Promise<Product> {
  const product = await startProduct({ ...options, env: { ...shortHistory(), ...options?.env } });
  cleanups.push(() => product.dispose());
  return product;
}

async function startBroker(dir?: string): Promise<TestKafka> {
  const broker = await startTestKafka({ dir });
  cleanups.push(() => broker.stop());
  return broker;
}

/** Stops the server after the test, also if another one fails to start. */
async function stoppedLater<T extends { stop(): unknown }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  cleanups.push(() => server.stop());
  return server;
}

/** Expects that the check fails in each of the processes, with a detail that matches `reason`. */
async function expectFailingCheck(
  product: Product,
  names: readonly ProcessName[],
  check: string,
  reason: RegExp,
): Promise<void> {
  for (const name of names) {
    await eventually(`${name} to report ${check}`, async () => {
      const { ready, checks } = await product.readyz(name);
      return !ready && checks[check]?.ok === false && reason.test(checks[check].detail ?? '');
    });
  }
}

describe.skipIf(missing !== null)(
  `the whole product on Kafka${missing === null ? '' : ` (not run: ${missing})`}`,
  () => {
    /** Tables of an undisturbed run, on the other log engine. */
    let truth: Record<string, string>;
    beforeAll(async () => {
      truth = await referenceTables('short');
    }, REFERENCE_RUN_TIMEOUT_MS);

    it('runs with three URLs and survives the failure of each of the three servers during the load', async () => {
      const disk = noDisk === null ? mountSmallDisk(DISK_MB) : null;
      if (disk !== null) cleanups.push(() => disk.remove());
      const [broker, registry, store] = await Promise.all([
        startBroker(disk?.dir),
        stoppedLater(startTestRegistry()),
        stoppedLater(startClickHouseProcess()),
      ]);
      await registerForeignSchema(registry.url);
      const [registryProxy, storeProxy] = [await startTcpProxy(registry.port), await startTcpProxy(store.port)];
      cleanups.push(
        () => registryProxy.close(),
        () => storeProxy.close(),
      );
      const product = await start({
        env: {
          LOG_URL: broker.url,
          SCHEMA_REGISTRY_URL: `http://127.0.0.1:${registryProxy.port}/apis/ccompat/v7`,
        },
        clickhouse: { url: `http://127.0.0.1:${storeProxy.port}`, user: store.user, password: store.password },
      });
      const atWork = async (what: string) => {
        await eventually(`${what}: all five processes`, async () => ownProcesses.every((name) => product.pid(name)));
      };
      await atWork('at the start');

      if (disk !== null) {
        await within('the broker to end, as its disk is full', broker.ended());
        await expectFailingCheck(product, ownProcesses, 'log', /failing for \d+ s|does not respond/);
        expect(await product.metric('ingest', 'oddstream_log_up')).toBe(0);
        expect(await product.metric('ingest', 'oddstream_log_errors_total')).toBeGreaterThan(0);
        const written = () => product.metric('ingest', 'oddstream_chain_final_written');
        // An ingest that restarted while the broker is down has not begun to write.
        const before = (await product.series('ingest', 'oddstream_chain_final_written'))[0]?.[1] ?? 0;
        await broker.halt('kill');
        disk.enlarge(2_000);
        await broker.start();
        // Its transaction may have timed out; then ingest is fenced and restarts, which needs the registry that is interrupted below.
        await eventually('ingest to write on', async () => (await written()) > before);
      }
      await eventually('fills', async () => Number((await fills(product)) ?? 0) > 0);
      process.kill(product.pid('ingest')!, 'SIGKILL');
      await eventually('ingest to start again', async () => (await product.readyz('ingest')).checks.log?.ok);

      registryProxy.interrupt();
      await eventually('the API to respond without the registry', async () => {
        return (await product.get('/v1/status')).status === 200;
      });
      await broker.halt('kill');
      process.kill(product.pid('processors')!, 'SIGKILL');
      await expectFailingCheck(product, ['processors'], 'registry', /schema registry at .* is unavailable/);
      expect(await product.metric('processors', 'oddstream_schema_registry_up')).toBe(0);
      await expectFailingCheck(
        product,
        ['ingest', 'api', 'stream-gateway'],
        'log',
        /failing for \d+ s|does not respond/,
      );
      registryProxy.resume();
      await expectFailingCheck(product, ['processors'], 'log', /failing for \d+ s/);
      expect(await product.metric('processors', 'oddstream_log_unavailable_seconds')).toBeGreaterThan(0);
      await broker.start();
      await eventually('processors to read the log', async () => (await product.readyz('processors')).checks.log?.ok);

      storeProxy.interrupt();
      await expectFailingCheck(product, ['processors'], 'clickhouse', /ECONN|socket|does not respond/);
      await expectFailingCheck(product, ['api'], 'tables', /ECONN|socket|does not respond/);
      expect(await product.metric('processors', 'oddstream_clickhouse_up')).toBe(0);
      await sleep(CLICKHOUSE_DOWN_MS);
      expect(await product.metric('processors', 'oddstream_clickhouse_unavailable_seconds')).toBeGreaterThan(
        CLICKHOUSE_DOWN_MS / 1000 - 3,
      );
      storeProxy.resume();

      for (let cycle = 0; cycle < 3; cycle++) {
        process.kill(store.pid, 'SIGSTOP');
        await sleep(1_800);
        process.kill(store.pid, 'SIGCONT');
        await sleep(300);
      }

      await untilTablesComplete(product);
      expect(await digest(product)).toEqual(truth);
      for (const name of ownProcesses)
        await eventually(`${name} to be ready again`, async () => (await product.readyz(name)).ready, 120_000);
      expect(product.pid('clickhouse')).toBeNull();
      expect(product.output()).toContain('Oddstream is up.');
      expect(product.output()).toMatch(/schema registry at .* is unavailable/);
      expect(await (await fetch(`${registry.url}/subjects`)).json()).toContain('oddstream.Trade');
    }, 600_000);
  },
);

/** Registers a schema of another system before the product's, so that the ids of its schemas differ from the committed ones. */
async function registerForeignSchema(registryUrl: string): Promise<void> {
  const schema = { type: 'record', name: 'Foreign', namespace: 'com.example', fields: [{ name: 'n', type: 'int' }] };
  const { status } = await fetch(`${registryUrl}/subjects/com.example.Foreign/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: JSON.stringify(schema) }),
  });
  expect(status).toBe(200);
}

async function within(what: string, work: Promise<unknown>): Promise<void> {
  let over = false;
  work.then(() => {
    over = true;
  });
  await eventually(what, async () => over, 120_000);
}

const fills = async (product: Product) => (await product.sql<{ n: string }>('SELECT count() AS n FROM fills'))[0]?.n;
/** The broker's disk is full before the history is in the log. */
const DISK_MB = 7;
