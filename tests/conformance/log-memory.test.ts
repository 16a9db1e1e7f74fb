import { describe, expect, it } from 'vitest';
import { FencedError } from '../../infra/log/errors.js';
import { createMemoryLog, createMemoryStore, type StepFailure } from '../../infra/log/testing.js';
import { describeLog } from './log-conformance.js';
import { makeTopic, readAll, record, texts } from './log-harness.js';

describeLog(
  'memory',
  async () => {
    const store = createMemoryStore();
    const log = createMemoryLog({ store });
    return { log, reopen: async () => createMemoryLog({ store }), cleanup: () => log.close() };
  },
  { maintains: false },
);

describe('log: memory, with a step that fails', () => {
  it.each([
    ['none', false, ['before', 'next']],
    ['all', true, ['before', 'failing', 'next']],
  ] as const)('ends the ownership, and its next owner sees %s of the step', async (_what, committed, expected) => {
    let failure: StepFailure | undefined;
    const log = createMemoryLog({ onStep: () => failure });
    const topic = await makeTopic(log);
    const step = (text: string, nextOffset: number) => ({
      outputs: [{ topic, records: [record(text, text)] }],
      offsets: [{ topic, partition: 0, nextOffset }],
    });
    const owner = await log.acquireOwnership('group');
    const other = await log.acquireOwnership('other');
    await owner.appendAndCommit(step('before', 1));
    failure = { error: new Error('no response'), committed };
    const failing = owner.appendAndCommit(step('failing', 2));
    failure = undefined;
    // Called before the failure is known to the caller.
    const late = owner.appendAndCommit(step('late', 3));
    await expect(failing).rejects.toThrow('no response');
    await expect(late).rejects.toBeInstanceOf(FencedError);
    await expect(owner.appendAndCommit(step('later', 4))).rejects.toBeInstanceOf(FencedError);
    expect(await log.committed('group', topic)).toEqual([{ topic, partition: 0, nextOffset: committed ? 2 : 1 }]);
    await (await log.acquireOwnership('group')).appendAndCommit(step('next', 5));
    expect(texts(await readAll(log, topic))).toEqual(expected);
    await other.appendAndCommit({ outputs: [], offsets: [] });
  });
});
