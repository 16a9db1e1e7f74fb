import { expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import { createSearchQuota } from './quota.js';

it('search quota keeps the counts of a new month when a search of the month before ends', async () => {
  const quota = createSearchQuota({ tables: { rows: async () => [] }, processId: 'p', count: () => undefined });
  const caller = { accountId: 'a', terms: plans.starter } as Parameters<typeof quota.spend>[0];
  const [september, october] = [Date.UTC(2026, 9, 1) - 1_000, Date.UTC(2026, 9, 1) + 1_000];
  let end = (): void => undefined;
  const late = quota.spend(
    caller,
    await quota.read(caller, september),
    september,
    () => new Promise<void>((resolve) => (end = resolve)),
  );
  for (let n = 0; n < 3; n++)
    await quota.spend(caller, await quota.read(caller, october), october, async () => undefined);
  expect((await quota.read(caller, october)).used).toBe(3);
  end();
  await late;
  expect((await quota.read(caller, october)).used).toBe(4);
});

it('search quota is not exceeded by searches that read it before others ended', async () => {
  const rows = async () => [{ used: String(plans.starter.socialSearchesPerMonth - 2) }] as never[];
  const quota = createSearchQuota({ tables: { rows }, processId: 'p', count: () => undefined });
  const caller = { accountId: 'a', terms: plans.starter } as Parameters<typeof quota.spend>[0];
  const nowMs = Date.UTC(2026, 9, 1);
  // As when the limits of several keys are read from Redis in between.
  const read = await Promise.all([1, 2, 3, 4].map(() => quota.read(caller, nowMs)));
  const results: (number | string)[] = [];
  for (const one of read)
    results.push(
      await quota
        .spend(caller, one, nowMs, async () => undefined)
        .then(
          ({ used }) => used,
          ({ failure }: { failure: { kind: string } }) => failure.kind,
        ),
    );
  const limit = plans.starter.socialSearchesPerMonth;
  expect(results).toEqual([limit - 1, limit, 'rate_limited', 'rate_limited']);
});
