import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../infra/config/config.js';
import { createMemoryLog, createMemoryStore, type MemoryStore } from '../infra/log/testing.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { createHydrationCounts } from '../ingest/catalog/hydration-counts.js';
import { openCatalogSource } from '../ingest/catalog/open-source.js';
import { runCatalog } from '../ingest/catalog/run-catalog.js';
import { type FakeGamma, startFakeGamma } from '../ingest/catalog/testing/fake-gamma.js';
import { assertSingleSourceMode } from '../ingest/shared/single-source-mode.js';
import { createSourceStatus } from '../ingest/shared/source-status.js';
import { createCodec } from '../schemas/codec.js';
import { allTopics, topics } from '../schemas/topics.js';
import { eventually } from './support/product.js';

const HOUR_MS = 3_600_000;
const DOWN_MS = 72 * HOUR_MS;
const logger = silentLogger();
const codec = createCodec();
let server: FakeGamma;
beforeEach(async () => {
  server = await startFakeGamma();
});
afterEach(() => server.stop());

/** An event that was closed without an end date: only its update tells of it. */
const closedEvent = (n: number, updatedMs: number) => ({
  id: String(n),
  slug: `event-${n}`,
  title: `Event ${n}`,
  closed: true,
  updatedAt: new Date(updatedMs).toISOString(),
});

/** Runs the catalogue as a process does after a start. Resolves when it is live, or killed before an append to the catalogue topic. */
async function start(store: MemoryStore, killAtAppend = Number.POSITIVE_INFINITY): Promise<'live' | 'killed'> {
  let appends = 0;
  let killed = false;
  const log = createMemoryLog({
    store,
    onAppend(topic) {
      if (topic !== topics.catalog.name || ++appends < killAtAppend) return undefined;
      killed = true;
      log.crash();
      return undefined;
    },
  });
  const stop = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const statuses = await assertSingleSourceMode({ log, codec, mode: 'live', onUnreadable: () => expect.fail() });
  const read_until_ms = statuses.get('catalog')?.read_until_ms ?? null;
  const status = createSourceStatus({
    log,
    codec,
    logger,
    source: 'catalog',
    mode: 'live',
    initial: { read_until_ms },
  });
  const counts = createHydrationCounts();
  const deadLetters = { put: () => expect.fail() };
  const { sources } = loadConfig({ POLYGON_RPC_URL: 'http://127.0.0.1:1', GAMMA_URL: server.url });
  const source = await openCatalogSource({
    ...{ sources, log, deadLetters, metrics, counts, logger, imported: null, readUntilMs: read_until_ms },
    recording: () => expect.fail(),
  });
  const done = runCatalog({ source, log, codec, deadLetters, status, metrics, counts, logger, signal: stop.signal });
  done.catch(() => undefined);
  await eventually('the catalogue to be live or killed', async () => killed || status.current.phase === 'live');
  stop.abort();
  if (killed) return 'killed';
  await done;
  await status.close();
  return 'live';
}

const keysOf = (store: MemoryStore) =>
  new Set(
    createMemoryLog({ store })
      .all(topics.catalog.name)
      .map(({ key }) => key),
  );

it.each([
  ['after a status of this version', true],
  ['after one of an older version', false],
])(
  'catalog ingest reads what it missed while it was down, however often it is killed while it reads it, %s',
  async (_, hasPosition) => {
    const downSinceMs = Date.now() - DOWN_MS;
    // Three pages of changes, newest first; the last ones were made just after ingest went down.
    server.events = Array.from({ length: 250 }, (_, n) => closedEvent(n, downSinceMs + (n < 10 ? 0.1 : 24) * HOUR_MS));
    const wanted = server.events.map(({ id }) => `event:${id}`);
    const store = createMemoryStore();
    const before = createMemoryLog({ store });
    await before.ensureTopics(allTopics);
    const value = codec.encode('catalog_tag', { id: '1', slug: 'a', label: 'A' });
    await before.append(topics.catalog.name, [{ key: 'tag:1', value, timestampMs: downSinceMs }]);
    if (hasPosition) {
      const initial = { read_until_ms: downSinceMs };
      await createSourceStatus({ log: before, codec, logger, source: 'catalog', mode: 'live', initial }).close();
    }

    // Every start is killed at its second append, as long as it has that many.
    let kills = 0;
    while ((await start(store, 2)) === 'killed') kills++;
    expect(kills).toBe(2);
    expect(wanted.filter((key) => !keysOf(store).has(key))).toEqual([]);
  },
);
