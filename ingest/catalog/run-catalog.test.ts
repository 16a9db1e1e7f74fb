import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import type { RejectedInput } from '../shared/dead-letters.js';
import type { SourceState } from '../shared/source-status.js';
import { createHydrationCounts } from './hydration-counts.js';
import { runCatalog } from './run-catalog.js';
import type { CatalogRow, CatalogSource, CatalogUpdate } from './source.js';

const tag = (id: string, label: unknown): CatalogRow =>
  ({ kind: 'catalog_tag', value: { id, slug: id, label } }) as CatalogRow;

function run(
  load: CatalogUpdate[],
  live: CatalogUpdate[],
  mode: CatalogSource['mode'] = 'recorded',
  end: Promise<void> = Promise.resolve(),
) {
  let onPlayed: () => void = () => undefined;
  /** Resolves when every update was applied. */
  const playing = new Promise<void>((resolve) => {
    onPlayed = resolve;
  });
  const log = createMemoryLog({ topics: topicsOnOneMachine });
  const facts: Partial<SourceState> = {};
  const phases: unknown[] = [];
  const letters: RejectedInput[] = [];
  const source: CatalogSource = {
    mode,
    description: 'a test',
    shiftDays: 3,
    recordedFromMs: 5,
    totalMarkets: null,
    async *load() {
      yield* load;
    },
    async *live() {
      yield* live;
      onPlayed();
      await end;
    },
  };
  const metrics = createMetrics({ process: 'test', defaults: false });
  const done = runCatalog({
    source,
    log,
    codec: createCodec(),
    deadLetters: {
      put: (letter) => {
        letters.push(letter);
        return Promise.resolve();
      },
    },
    status: {
      update: (change) => {
        if (change.phase !== undefined) phases.push(change.phase);
        Object.assign(facts, change);
      },
      updateDeferred: (change) => void Object.assign(facts, change),
      flush: async () => undefined,
    },
    metrics,
    counts: createHydrationCounts(),
    logger: silentLogger(),
    signal: new AbortController().signal,
    nowMs: () => 77,
  });
  return { log, facts, phases, letters, metrics, playing, done };
}

describe('runCatalog', () => {
  it('writes the load, then changes, and reports their status', async () => {
    const { log, facts, phases, letters, done } = run(
      [
        { type: 'connected', connected: true, detail: 'open' },
        { type: 'rows', rows: [tag('1', 'a'), tag('2', 5), tag('3', 'a')] },
      ],
      [{ type: 'rows', rows: [tag('1', 'a'), tag('3', 'b')] }],
    );
    await done;
    expect(log.all('catalog').map(({ key }) => key)).toEqual(['tag:1', 'tag:3', 'tag:3']);
    expect(phases).toEqual(['history', 'live']);
    expect(facts).toMatchObject({
      connected: true,
      detail: 'a test: open',
      shift_days: 3,
      last_event_ms: 77,
      progress: 1,
      metadata: { ...createHydrationCounts(), gamma_hydration_unusable: 1 },
    });
    expect(letters).toEqual([
      expect.objectContaining({
        origin: 'catalog',
        stage: 'catalog.write',
        payload: '{"id":"2","slug":"2","label":5}',
      }),
    ]);
  });

  it('has no time of the last delivery once a recording has ended', async () => {
    const lastDelivery = async ({ metrics }: ReturnType<typeof run>) =>
      (await metrics.registry.getSingleMetric('oddstream_catalog_last_delivery_ms')?.get())?.values.map(
        ({ value }) => value,
      );
    const rows: CatalogUpdate = { type: 'rows', rows: [tag('1', 'a')] };
    let end: () => void = () => undefined;
    const open = new Promise<void>((resolve) => {
      end = resolve;
    });
    const running = run([rows], [rows], 'recorded', open);
    await running.playing;
    expect(await lastDelivery(running)).toEqual([77]);
    end();
    await running.done;
    expect(await lastDelivery(running)).toEqual([]);
  });

  it('rejects with RetryableError when a live source ends', async () => {
    await expect(run([], [], 'live').done).rejects.toThrow(RetryableError);
  });
});
