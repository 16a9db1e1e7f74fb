import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { FencedError, LogRequestError } from '../../infra/log/errors.js';
import type { GroupOwnership } from '../../infra/log/port.js';
import {
  type LogUnderTest,
  makeTopic,
  numbered,
  readAll,
  record,
  texts,
  uniqueName,
  withInstance,
} from './log-harness.js';

/** Ownership: only the newest owner of a group can commit steps. */
export function describeOwnership(under: () => LogUnderTest): void {
  describe('group ownership', () => {
    const setUp = async () => {
      const { log } = under();
      const [input, output] = [await makeTopic(log), await makeTopic(log)];
      const group = uniqueName('group');
      const step = (id: string, nextOffset: number) => ({
        outputs: [{ topic: output, records: [record(id, id)] }],
        offsets: [{ topic: input, partition: 0, nextOffset }],
      });
      return { log, input, output, group, step };
    };

    it('commits steps in order, with their positions', async () => {
      const { log, input, output, group, step } = await setUp();
      const ownership = await log.acquireOwnership(group);
      await Promise.all([1, 2, 3].map((i) => ownership.appendAndCommit(step(`s${i}`, i))));
      expect(texts(await readAll(log, output))).toEqual(['s1', 's2', 's3']);
      expect(await log.committed(group, input)).toEqual([{ topic: input, partition: 0, nextOffset: 3 }]);
    });

    it('fences the earlier owner: its steps fail and have no effect', async () => {
      const { log, input, output, group, step } = await setUp();
      await withInstance(under(), async (other) => {
        const first = await log.acquireOwnership(group);
        await first.appendAndCommit(step('first', 1));
        const second = await other.acquireOwnership(group);
        for (const late of [step('late', 7), { outputs: [], offsets: step('', 8).offsets }]) {
          const failure = await first.appendAndCommit(late).catch((error: unknown) => error);
          if (!(failure instanceof FencedError)) throw failure;
          expect(failure).toBeInstanceOf(RetryableError);
        }
        expect(texts(await readAll(other, output))).toEqual(['first']);
        expect(await other.committed(group, input)).toEqual([{ topic: input, partition: 0, nextOffset: 1 }]);
        await second.appendAndCommit(step('second', 2));
        await expect(first.appendAndCommit(step('late', 9))).rejects.toBeInstanceOf(FencedError);
        expect(texts(await readAll(log, output))).toEqual(['first', 'second']);
        expect(await log.committed(group, input)).toEqual([{ topic: input, partition: 0, nextOffset: 2 }]);
      });
    });

    it('fences earlier owners within one instance, per group, and a new owner works', async () => {
      const { log, output, group, step } = await setUp();
      const bystander = await log.acquireOwnership(`${group}-other`);
      const first = await log.acquireOwnership(group);
      const second = await log.acquireOwnership(group);
      const results = await Promise.allSettled([
        first.appendAndCommit(step('first', 1)),
        second.appendAndCommit(step('second', 1)),
        bystander.appendAndCommit(step('bystander', 1)),
        log.append(output, [record('plain', 'plain')]),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
      await (await log.acquireOwnership(group)).appendAndCommit(step('third', 2));
      await expect(second.appendAndCommit(step('late', 3))).rejects.toBeInstanceOf(FencedError);
      expect(texts(await readAll(log, output)).sort()).toEqual(['bystander', 'plain', 'second', 'third']);
    });

    it('survives a step with invalid arguments and writes nothing of it', async () => {
      const { log, output, group, step } = await setUp();
      const ownership = await log.acquireOwnership(group);
      const wrong = {
        ...step('wrong', 1),
        outputs: [...step('wrong', 1).outputs, { topic: uniqueName('missing'), records: numbered(1) }],
      };
      await expect(ownership.appendAndCommit(wrong)).rejects.toBeInstanceOf(LogRequestError);
      await ownership.appendAndCommit(step('right', 1));
      expect(texts(await readAll(log, output))).toEqual(['right']);
      await expect(log.acquireOwnership('')).rejects.toBeInstanceOf(LogRequestError);
    });

    it('never lets two owners commit from the same position in any interleaving', async () => {
      const { log: one } = under();
      await withInstance(under(), async (two) => {
        const action = fc.record({
          instance: fc.integer({ min: 0, max: 1 }),
          acquires: fc.boolean(),
          waits: fc.boolean(),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14 }), async (actions) => {
            const { input, output, group, step } = await setUp();
            const owners: ({ ownership: GroupOwnership; next: number } | null)[] = [null, null];
            const pending: Promise<void>[] = [Promise.resolve(), Promise.resolve()];
            const act = async (instance: number, acquires: boolean): Promise<void> => {
              const log = [one, two][instance]!;
              if (acquires || owners[instance] === null) {
                const ownership = await log.acquireOwnership(group);
                owners[instance] = { ownership, next: (await log.committed(group, input))[0]?.nextOffset ?? 0 };
              }
              const owner = owners[instance]!;
              try {
                await owner.ownership.appendAndCommit(step(String(owner.next), owner.next + 1));
                owner.next += 1;
              } catch (error) {
                if (!(error instanceof FencedError)) throw error;
                owners[instance] = null;
              }
            };
            for (const { instance, acquires, waits } of actions) {
              pending[instance] = pending[instance]!.then(() => act(instance, acquires));
              if (waits) await Promise.all(pending);
            }
            await Promise.all(pending);
            const committed = texts(await readAll(one, output));
            expect(committed).toEqual(committed.map((_, index) => String(index)));
            expect((await two.committed(group, input))[0]?.nextOffset ?? 0).toBe(committed.length);
          }),
          { numRuns: 15 },
        );
      });
    });
  });
}
