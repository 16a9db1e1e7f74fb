import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import { type LogTraits, type LogUnderTest, makeTopic, readAll, uniqueName } from './log-harness.js';

const KEYS = ['a', 'b', 'c', 'd', ''];
const HOUR_MS = 60 * 60_000;

const newRecord: fc.Arbitrary<NewRecord> = fc.record({
  key: fc.constantFrom(...KEYS),
  value: fc.option(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    { freq: 6 },
  ),
  timestampMs: fc.integer({ min: 0, max: 20_000 }),
  partition: fc.constant(0),
});
const batch = fc.array(newRecord, { maxLength: 6 });

type Command =
  | { readonly kind: 'append'; readonly records: readonly NewRecord[] }
  | { readonly kind: 'step'; readonly records: readonly NewRecord[]; readonly position: number }
  | { readonly kind: 'commit'; readonly position: number }
  | { readonly kind: 'read'; readonly from: number; readonly maxRecords: number }
  | { readonly kind: 'time'; readonly timestampMs: number }
  | { readonly kind: 'state' };

const command: fc.Arbitrary<{ readonly instance: number; readonly command: Command }> = fc.record({
  instance: fc.nat(1),
  command: fc.oneof(
    fc.record({ kind: fc.constant('append' as const), records: batch }),
    fc.record({ kind: fc.constant('step' as const), records: batch, position: fc.nat(100) }),
    fc.record({ kind: fc.constant('commit' as const), position: fc.nat(100) }),
    fc.record({ kind: fc.constant('read' as const), from: fc.nat(40), maxRecords: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ kind: fc.constant('time' as const), timestampMs: fc.nat(21_000) }),
    fc.record({ kind: fc.constant('state' as const) }),
  ),
});

/** The complete expected state. Records have positions in the list instead of offsets. */
interface Model {
  readonly records: NewRecord[];
  committed: number | null;
}

/** Compares random interleavings with a list, and random histories with the rules of retention and compaction. */
export function describeModel(under: () => LogUnderTest, traits: LogTraits): void {
  describe('against a model', () => {
    it('any interleaving of two instances reads as one list', async () => {
      const { log, reopen } = under();
      const other = await reopen();
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
          const topic = await makeTopic(log);
          const group = uniqueName('group');
          const model: Model = { records: [], committed: null };
          for (const { instance, command } of commands) {
            await apply(instance === 0 ? log : other, topic, group, model, command);
          }
          expect(plain(await readAll(log, topic))).toEqual(model.records.map(plainOf));
        }),
        { numRuns: 60 },
      );
      await other.close();
    });

    it('offsetForTimestamp equals a search over a full read', async () => {
      const { log } = under();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1, maxLength: 5 }), { maxLength: 12 }),
          fc.array(fc.integer({ min: 0, max: 9500 }), { minLength: 5, maxLength: 10 }),
          async (appends, timestamps) => {
            const topic = await makeTopic(log);
            for (const times of appends) {
              await log.append(
                topic,
                times.map((timestampMs) => ({ key: 'k', value: null, timestampMs })),
              );
            }
            await expectTimes(log, topic, timestamps);
          },
        ),
        { numRuns: 60 },
      );
    });

    if (!traits.maintains) return;

    it('compaction retains exactly the last record of each key, with any writes between passes', async () => {
      const { log } = under();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ records: batch, maintain: fc.boolean() }), { maxLength: 15 }),
          fc.array(fc.nat(21_000), { maxLength: 5 }),
          async (steps, timestamps) => {
            const topic = await makeTopic(log, { compacted: true });
            const written: LogRecord[] = [];
            for (const { records, maintain } of steps) {
              const [range] = await log.append(topic, records);
              for (const [i, one] of records.entries()) {
                const { key, value, timestampMs } = one;
                written.push({ offset: range!.firstOffset + i, key, value, timestampMs });
              }
              if (maintain) await log.maintain(0);
            }
            await log.maintain(0);
            const last = new Map(written.map((one) => [one.key, one.offset]));
            const expected = written.filter((one) => last.get(one.key) === one.offset);
            expect(plain(await readAll(log, topic))).toEqual(expected.map(plainOf));
            await expectTimes(log, topic, timestamps);
            await log.maintain(traits.tombstoneGraceMs);
            const remaining = expected.filter(({ value }) => value !== null);
            expect(plain(await readAll(log, topic))).toEqual(remaining.map(plainOf));
            await expectTimes(log, topic, timestamps);
          },
        ),
        { numRuns: 25 },
      );
    });

    it('retention deletes only a prefix and only records that are too old', async () => {
      const { log } = under();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }), { maxLength: 15 }),
          fc.integer({ min: 0, max: 12 }),
          async (appends, nowHours) => {
            const topic = await makeTopic(log, { retentionMs: HOUR_MS });
            for (const hours of appends) {
              await log.append(
                topic,
                hours.map((hour) => ({ key: 'k', value: null, timestampMs: hour * HOUR_MS })),
              );
            }
            const before = await readAll(log, topic);
            await log.maintain(nowHours * HOUR_MS);
            const after = await readAll(log, topic);
            expect(after).toEqual(before.slice(before.length - after.length));
            const cutoffMs = (nowHours - 1) * HOUR_MS;
            // Records of a later hour than now are as old as the next one that is not.
            const ages = before.map(({ timestampMs }, i) =>
              timestampMs <= nowHours * HOUR_MS
                ? timestampMs
                : before.slice(i).find((one) => one.timestampMs <= nowHours * HOUR_MS)?.timestampMs,
            );
            const kept = ages.findIndex((timeMs) => timeMs === undefined || timeMs >= cutoffMs);
            expect(after).toEqual(kept === -1 ? [] : before.slice(kept));
            await expectTimes(
              log,
              topic,
              Array.from({ length: 11 }, (_, hour) => hour * HOUR_MS),
            );
          },
        ),
        { numRuns: 25 },
      );
    });
  });
}

async function apply(log: Log, topic: string, group: string, model: Model, command: Command): Promise<void> {
  switch (command.kind) {
    case 'append':
      await log.append(topic, command.records);
      model.records.push(...command.records);
      return;
    case 'step': {
      const offsets = [{ topic, partition: 0, nextOffset: command.position }];
      await log.appendAndCommit({ outputs: [{ topic, records: command.records }], group, offsets });
      model.records.push(...command.records);
      model.committed = command.position;
      return;
    }
    case 'commit':
      await log.commit(group, [{ topic, partition: 0, nextOffset: command.position }]);
      model.committed = command.position;
      return;
    case 'read': {
      const all = await readAll(log, topic);
      const from = all[command.from]?.offset;
      if (from === undefined) return;
      const found: LogRecord[] = [];
      const { maxRecords } = command;
      for await (const got of log.read({ topic, partition: 0, from: { offset: from }, follow: false, maxRecords })) {
        found.push(...got.records);
      }
      expect(plain(found)).toEqual(model.records.slice(command.from).map(plainOf));
      return;
    }
    case 'time':
      await expectTimes(log, topic, [command.timestampMs]);
      return;
    case 'state': {
      const last = await log.lastRecord(topic, 0);
      const expected = model.records.at(-1);
      expect(last === null ? null : plainOf(last)).toEqual(expected === undefined ? null : plainOf(expected));
      const committed = await log.committed(group, topic);
      expect(committed.map(({ nextOffset }) => nextOffset)).toEqual(model.committed === null ? [] : [model.committed]);
    }
  }
}

/** Compares with the definition, by a scan of all records. */
async function expectTimes(log: Log, topic: string, timestamps: readonly number[]): Promise<void> {
  const records = await readAll(log, topic);
  const { next } = await log.bounds(topic, 0);
  for (const timestampMs of timestamps) {
    const expected = records.find((one) => one.timestampMs >= timestampMs)?.offset ?? next;
    expect(await log.offsetForTimestamp(topic, 0, timestampMs)).toBe(expected);
  }
}

function plainOf({ key, value, timestampMs }: Pick<LogRecord, 'key' | 'value' | 'timestampMs'>): string {
  return `${key}@${timestampMs}=${value === null ? 'null' : value.toString('hex')}`;
}

function plain(records: readonly LogRecord[]): string[] {
  return records.map(plainOf);
}
