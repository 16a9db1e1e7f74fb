import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import { topics } from '../../schemas/topics.js';
import type { AdmissionResult, ConnectionPermit } from '../../stream-gateway/admission/admission.js';
import { createFleet, type Gateway, type GatewayFleet, settled, terms } from './admission-harness.js';

const HOUR_MS = 3_600_000;
const fleets: GatewayFleet[] = [];
const fleet = async (options?: Parameters<typeof createFleet>[0]): Promise<GatewayFleet> => {
  const created = await createFleet(options);
  fleets.push(created);
  return created;
};
afterEach(async () => {
  for (const running of fleets.splice(0)) await running.stop();
});

const permitOf = (admitted: AdmissionResult): ConnectionPermit => {
  if (admitted.status !== 'ok') throw new Error(admitted.status);
  return admitted.permit;
};
const connect = ({ admission }: Gateway, accountId = 'a', cap: number | null = 2) =>
  admission.admit({ accountId, terms: terms(cap) });
const connectFree = ({ admission }: Gateway, accountId = 'f') => admission.admit({ accountId, terms: plans.free });
const statuses = async (results: Promise<AdmissionResult>[]) =>
  (await Promise.all(results)).map(({ status }) => status);

describe('log admission: connection caps', () => {
  it('are exact under simultaneous connects to several processes', async () => {
    const { start } = await fleet();
    const gateways = [await start(), await start(), await start()];
    const requests = Array.from({ length: 60 }, (_, n) => connect(gateways[n % 3] as Gateway, 'a', 10));
    const otherAccount = Array.from({ length: 9 }, (_, n) => connect(gateways[n % 3] as Gateway, 'b', 10));
    const results = await statuses(requests);
    expect(results.filter((status) => status === 'ok')).toHaveLength(10);
    expect(results.filter((status) => status === 'too_many')).toHaveLength(50);
    expect(await statuses(otherAccount)).toEqual(Array(9).fill('ok'));
  });

  it('free a permit in every process as soon as its connection is closed', async () => {
    const { start } = await fleet();
    const [first, second] = [await start(), await start()];
    const permits = [permitOf(await connect(first)), permitOf(await connect(second))];
    expect((await connect(first)).status).toBe('too_many');
    permits[1]?.release();
    permits[1]?.release();
    await settled();
    const third = permitOf(await connect(first));
    expect((await connect(second)).status).toBe('too_many');
    third.release();
    // A process counts its local sessions without waiting for the log.
    expect((await connect(first)).status).toBe('ok');
  });

  it('write nothing to the log for plans without limits', async () => {
    const { start, log } = await fleet();
    const gateway = await start();
    const before = log.all(topics.gatewaySessions.name).length;
    const results = await Promise.all(
      Array.from({ length: 100 }, () => gateway.admission.admit({ accountId: 'e', terms: plans.enterprise })),
    );
    for (const result of results) permitOf(result).release();
    expect(log.all(topics.gatewaySessions.name)).toHaveLength(before);
  });

  it('apply a changed plan to new connections only', async () => {
    const { start } = await fleet();
    const gateway = await start();
    await statuses([connect(gateway, 'a', 3), connect(gateway, 'a', 3), connect(gateway, 'a', 3)]);
    expect((await connect(gateway, 'a', 1)).status).toBe('too_many');
    expect((await connect(gateway, 'a', 4)).status).toBe('ok');
  });

  it('count sessions of other processes after a start', async () => {
    const { start } = await fleet();
    await connect(await start());
    await connect(await start());
    expect((await connect(await start())).status).toBe('too_many');
  });

  it('write open sessions again every hour, so that retention removes none of them', async () => {
    const { start, log, clock, heartbeat } = await fleet();
    const gateway = await start();
    await connect(gateway);
    const sessionRecords = () =>
      log.all(topics.gatewaySessions.name).filter(({ key }) => key.startsWith('session:')).length;
    expect(sessionRecords()).toBe(1);
    await heartbeat(3);
    expect(sessionRecords()).toBe(1);
    clock.ms += HOUR_MS;
    await heartbeat(2);
    expect(sessionRecords()).toBe(2);
  });
});

describe('log admission: failed processes', () => {
  it('are expired at the fifth missed heartbeat, not earlier', async () => {
    const { start, heartbeat } = await fleet();
    const [first, second] = [await start(), await start()];
    await statuses([connect(first), connect(first)]);
    await heartbeat();
    first.fault.killed = true;
    await heartbeat(3);
    expect((await connect(second)).status).toBe('too_many');
    await heartbeat();
    expect(await statuses([connect(second), connect(second), connect(second)])).toEqual(['ok', 'ok', 'too_many']);
  });

  it('are expired at once when a process with the same instance name starts', async () => {
    const { start } = await fleet();
    const first = await start('host:8081');
    const other = await start('host:8082');
    await statuses([connect(first), connect(first)]);
    first.fault.killed = true;
    const successor = await start('host:8081');
    await settled();
    expect((await connect(successor)).status).toBe('ok');
    expect((await connect(other)).status).toBe('ok');
    expect((await connect(other)).status).toBe('too_many');
  });

  it('that shut down release their permits at once', async () => {
    const { start } = await fleet();
    const [first, second] = [await start(), await start()];
    await statuses([connect(first), connect(first)]);
    await first.admission.close();
    await settled();
    expect((await connect(second)).status).toBe('ok');
  });

  it('that were only slow write their sessions again after they were expired', async () => {
    const { start, heartbeat, clock } = await fleet();
    const [first, second] = [await start(), await start()];
    await statuses([connect(first), connect(first)]);
    for (let n = 0; n < 6; n++) {
      clock.ms += 2_000;
      second.admission.heartbeat();
      await settled();
    }
    await settled();
    expect((await connect(second)).status).toBe('too_many');
    await heartbeat(12);
    expect((await connect(second)).status).toBe('too_many');
  });

  it('are not expired while the log is unreachable for all processes', async () => {
    const { start, heartbeat } = await fleet();
    const [first, second] = [await start(), await start()];
    await statuses([connect(first), connect(first)]);
    for (const { fault } of [first, second]) fault.logUnavailable = true;
    await heartbeat(20);
    for (const { fault } of [first, second]) fault.logUnavailable = false;
    await new Promise((resolve) => setTimeout(resolve, 600));
    await heartbeat(2);
    expect(await second.metrics.registry.metrics()).toContain('gateway_sessions_expired_total{process="test"} 0');
    expect((await connect(second)).status).toBe('too_many');
  });
});

describe('log admission: log unreachable', () => {
  it('decides by local state, counts the fallback and writes the session later', async () => {
    const { start, heartbeat } = await fleet({ decisionTimeoutMs: 100 });
    const [first, second] = [await start(), await start()];
    await connect(first);
    await settled();
    second.fault.logUnavailable = true;
    expect((await connect(second)).status).toBe('ok');
    expect((await connect(second)).status).toBe('too_many');
    expect(await second.metrics.registry.metrics()).toContain('gateway_admissions_fallback_total{process="test"} 1');
    // The first process cannot know of the local decision: availability comes first.
    expect((await connect(first)).status).toBe('ok');
    second.fault.logUnavailable = false;
    await expect
      .poll(async () => {
        await heartbeat();
        return (await connect(first, 'a', 3)).status;
      })
      .toBe('too_many');
  });

  it('counts a connection once whose append was committed but failed', async () => {
    const { start } = await fleet({ decisionTimeoutMs: 100 });
    const gateway = await start();
    gateway.fault.responseLost = true;
    const permit = permitOf(await connect(gateway));
    expect(await statuses([connect(gateway), connect(gateway)])).toEqual(['ok', 'too_many']);
    gateway.fault.responseLost = false;
    permit.release();
    expect((await connect(gateway)).status).toBe('ok');
  });
});

describe('log admission: session time', () => {
  const resets = Date.UTC(2026, 10, 4);

  it('is used up after an hour of the UTC day, over processes and restarts', async () => {
    const { start, clock, heartbeat } = await fleet();
    const first = await start();
    const permit = permitOf(await connectFree(first));
    clock.ms += 20 * 60_000;
    permit.release();
    await settled();
    const second = await start();
    const resetTimes: number[] = [];
    clock.ms += HOUR_MS;
    permitOf(await connectFree(second)).onSessionTimeExhausted((at) => resetTimes.push(at));
    clock.ms += 40 * 60_000 - 1;
    second.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    clock.ms += 1;
    second.admission.checkSessions();
    second.admission.checkSessions();
    expect(resetTimes).toEqual([resets]);
    await heartbeat(2);
    expect(await connectFree(first)).toEqual({ status: 'session_used_up', resetsAtMs: resets });
    expect(await connectFree(await start())).toEqual({ status: 'session_used_up', resetsAtMs: resets });
  });

  it('is at most a few seconds off after a process is killed', async () => {
    const { start, clock, heartbeat } = await fleet();
    const first = await start('host:8081');
    await connectFree(first);
    await heartbeat(1790);
    first.fault.killed = true;
    clock.ms += 10 * 60_000;
    const second = await start('host:8081');
    await settled();
    const from = clock.ms;
    let endedMs = 0;
    permitOf(await connectFree(second)).onSessionTimeExhausted(() => {
      endedMs = clock.ms;
    });
    while (endedMs === 0) {
      clock.ms += 100;
      second.admission.checkSessions();
    }
    // 3580 s are used; at most 5 s of them were not in the log when the process was killed.
    expect(endedMs - from).toBeGreaterThanOrEqual(20_000);
    expect(endedMs - from).toBeLessThanOrEqual(25_000);
  });

  it('resets at midnight, also for an open connection', async () => {
    const { start, clock } = await fleet();
    const gateway = await start();
    clock.ms = resets - 30 * 60_000;
    const resetTimes: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => resetTimes.push(at));
    clock.ms = resets + 59 * 60_000;
    gateway.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    clock.ms = resets + 60 * 60_000;
    gateway.admission.checkSessions();
    expect(resetTimes).toEqual([resets + 24 * HOUR_MS]);
  });

  it('closes no connection of an account that has changed to a plan without it', async () => {
    let plan = plans.free;
    const { start, clock } = await fleet({ termsOf: () => plan });
    const gateway = await start();
    const resetTimes: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => resetTimes.push(at));
    plan = plans.starter;
    clock.ms += 2 * HOUR_MS;
    gateway.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    expect((await gateway.admission.admit({ accountId: 'f', terms: plans.starter })).status).toBe('ok');
  });

  it('is the sum of a thousand short connections', async () => {
    const { start, clock } = await fleet();
    const gateway = await start();
    for (let n = 0; n < 1_000; n++) {
      const permit = permitOf(await connectFree(gateway));
      clock.ms += 3_000;
      permit.release();
      clock.ms += 500;
    }
    const resetTimes: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => resetTimes.push(at));
    clock.ms += 600_000 - 1;
    gateway.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    clock.ms += 1;
    gateway.admission.checkSessions();
    expect(resetTimes).toEqual([resets]);
  });
});

describe('log admission: a change of plan', () => {
  const connectWith = ({ admission }: Gateway, plan: typeof plans.free) =>
    admission.admit({ accountId: 'c', terms: plan });

  it('to fewer connections closes the newest ones of all processes, also those that had no limit before', async () => {
    let plan = plans.enterprise;
    const { start, clock } = await fleet({ termsOf: () => plan });
    const gateways = [await start(), await start()];
    const closed: number[] = [];
    const permits: ConnectionPermit[] = [];
    for (let n = 0; n < 14; n++) {
      clock.ms += 1_000;
      const permit = permitOf(await connectWith(gateways[n % 2] as Gateway, plan));
      permit.onExcess(() => {
        closed.push(n);
        permit.release();
      });
      permits.push(permit);
    }
    plan = plans.starter;
    clock.ms += 1_000;
    for (const permit of permits) permit.setTerms(plan);
    await settled();
    for (const { admission } of gateways) admission.checkSessions();
    await settled();
    for (const { admission } of gateways) admission.checkSessions();
    expect([...closed].sort((a, b) => a - b)).toEqual([10, 11, 12, 13]);
    expect(await connectWith(gateways[0] as Gateway, plan)).toEqual({ status: 'too_many' });
    permits[0]?.release();
    await settled();
    expect((await connectWith(gateways[1] as Gateway, plan)).status).toBe('ok');
  });

  it('to the free plan starts the session time; to a paid plan and back adds to what was used', async () => {
    let plan = plans.starter;
    const { start, clock, heartbeat } = await fleet({ termsOf: () => plan });
    const [one, two] = [await start(), await start()];
    const permit = permitOf(await connectWith(one, plan));
    const resetTimes: number[] = [];
    permit.onSessionTimeExhausted((at) => resetTimes.push(at));
    const changeTo = (next: typeof plan) => {
      plan = next;
      permit.setTerms(next);
    };
    clock.ms += 3 * HOUR_MS;
    changeTo(plans.free);
    clock.ms += 40 * 60_000;
    one.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    changeTo(plans.starter);
    clock.ms += 2 * HOUR_MS;
    one.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    changeTo(plans.free);
    clock.ms += 20 * 60_000 - 1;
    one.admission.checkSessions();
    expect(resetTimes).toEqual([]);
    clock.ms += 1;
    one.admission.checkSessions();
    expect(resetTimes).toEqual([Date.UTC(2026, 10, 4)]);
    await heartbeat(2);
    expect(await connectWith(two, plan)).toMatchObject({ status: 'session_used_up' });
  });

  it('writes nothing after the connection was released', async () => {
    const { start, log } = await fleet({ termsOf: () => plans.free });
    const gateway = await start();
    const permit = permitOf(await connectWith(gateway, plans.starter));
    permit.release();
    await settled();
    const before = log.all(topics.gatewaySessions.name).length;
    permit.setTerms(plans.free);
    await settled();
    expect(log.all(topics.gatewaySessions.name)).toHaveLength(before);
  });
});

describe('log admission: random schedules', () => {
  it('of connects, closes, kills, shutdowns and starts admit exactly the cap', async () => {
    const which = fc.nat({ max: 3 });
    const account = fc.constantFrom('a', 'b');
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          do: fc.constant('connect' as const),
          account,
          at: fc.array(which, { minLength: 1, maxLength: 6 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const), which: fc.nat({ max: 20 }) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), which }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('shutdown' as const), which }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('start' as const) }) },
    );
    const caps = { a: 3, b: 1 } as const;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { start, heartbeat, stop } = await createFleet();
        const alive = [await start(), await start()];
        let open: { readonly account: string; readonly gateway: Gateway; readonly permit: ConnectionPermit }[] = [];
        for (const one of steps) {
          if (one.do === 'connect') {
            const cap = caps[one.account as keyof typeof caps];
            const before = open.filter((session) => session.account === one.account).length;
            const results = await Promise.all(
              one.at.map(async (n) => {
                const gateway = alive[n % alive.length] as Gateway;
                return { gateway, admitted: await connect(gateway, one.account, cap) };
              }),
            );
            for (const { gateway, admitted } of results)
              if (admitted.status === 'ok') open.push({ account: one.account, gateway, permit: admitted.permit });
            const after = open.filter((session) => session.account === one.account).length;
            expect(after - before).toBe(Math.min(one.at.length, cap - before));
          } else if (one.do === 'close') {
            const session = open[one.which % Math.max(1, open.length)];
            open = open.filter((other) => other !== session);
            session?.permit.release();
          } else if (one.do === 'start') alive.push(await start());
          else if (alive.length > 1) {
            const [ended] = alive.splice(one.which % alive.length, 1);
            open = open.filter((session) => session.gateway !== ended);
            if (one.do === 'shutdown') await ended?.admission.close();
            else if (ended !== undefined) {
              ended.fault.killed = true;
              await heartbeat(7);
            }
          }
          await settled();
        }
        await stop();
      }),
      { numRuns: 40 },
    );
  });
});
