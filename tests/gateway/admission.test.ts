import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import { topics } from '../../schemas/topics.js';
import type { AdmissionResult, ConnectionPermit } from '../../stream-gateway/admission/admission.js';
import { createFleet, type Gateway, type GatewayFleet, settled, terms } from './admission-harness.js';

const HOUR_MS = 3_600_000;
const fleets: GatewayFleet[] = [];
const fleet = async (options?: Parameters<typeof createFleet>[0]): Promise<GatewayFleet> => {
  const made = await createFleet(options);
  fleets.push(made);
  return made;
};
afterEach(async () => {
  for (const made of fleets.splice(0)) await made.stop();
});

const permitOf = (admitted: AdmissionResult): ConnectionPermit => {
  if (admitted.status !== 'ok') throw new Error(admitted.status);
  return admitted.permit;
};
const connect = ({ admission }: Gateway, accountId = 'a', cap: number | null = 2) =>
  admission.admit({ accountId, terms: terms(cap) });
const connectFree = ({ admission }: Gateway, accountId = 'f') => admission.admit({ accountId, terms: plans.free });
const statuses = async (asked: Promise<AdmissionResult>[]) => (await Promise.all(asked)).map(({ status }) => status);

describe('connection caps', () => {
  it('hold exactly under simultaneous connects to several processes', async () => {
    const { start } = await fleet();
    const gateways = [await start(), await start(), await start()];
    const asked = Array.from({ length: 60 }, (_, n) => connect(gateways[n % 3] as Gateway, 'a', 10));
    const others = Array.from({ length: 9 }, (_, n) => connect(gateways[n % 3] as Gateway, 'b', 10));
    const found = await statuses(asked);
    expect(found.filter((status) => status === 'ok')).toHaveLength(10);
    expect(found.filter((status) => status === 'too_many')).toHaveLength(50);
    expect(await statuses(others)).toEqual(Array(9).fill('ok'));
  });

  it('count a place as free as soon as its connection is closed, in every process', async () => {
    const { start } = await fleet();
    const [first, second] = [await start(), await start()];
    const slots = [permitOf(await connect(first)), permitOf(await connect(second))];
    expect((await connect(first)).status).toBe('too_many');
    slots[1]?.release();
    slots[1]?.release();
    await settled();
    const third = permitOf(await connect(first));
    expect((await connect(second)).status).toBe('too_many');
    third.release();
    // The same process need not wait for the log to know its own.
    expect((await connect(first)).status).toBe('ok');
  });

  it('let plans without a cap in without a word to the log', async () => {
    const { start, log } = await fleet();
    const gateway = await start();
    const before = log.all(topics.gatewaySessions.name).length;
    const slots = await Promise.all(
      Array.from({ length: 100 }, () => gateway.admission.admit({ accountId: 'e', terms: plans.enterprise })),
    );
    for (const slot of slots) permitOf(slot).release();
    expect(log.all(topics.gatewaySessions.name)).toHaveLength(before);
  });

  it('apply the plan of now to new connections only', async () => {
    const { start } = await fleet();
    const gateway = await start();
    await statuses([connect(gateway, 'a', 3), connect(gateway, 'a', 3), connect(gateway, 'a', 3)]);
    expect((await connect(gateway, 'a', 1)).status).toBe('too_many');
    expect((await connect(gateway, 'a', 4)).status).toBe('ok');
  });

  it('are known to a process that starts later', async () => {
    const { start } = await fleet();
    await connect(await start());
    await connect(await start());
    expect((await connect(await start())).status).toBe('too_many');
  });

  it('are told to the log again each hour, so that retention forgets no open connection', async () => {
    const { start, log, clock, heartbeat } = await fleet();
    const gateway = await start();
    await connect(gateway);
    const told = () => log.all(topics.gatewaySessions.name).filter(({ key }) => key.startsWith('session:')).length;
    expect(told()).toBe(1);
    await heartbeat(3);
    expect(told()).toBe(1);
    clock.ms += HOUR_MS;
    await heartbeat(2);
    expect(told()).toBe(2);
  });
});

describe('processes that die', () => {
  it('free their places after the fifth beat of another without theirs, and not before', async () => {
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

  it('free their places at once when their successor starts at the same place', async () => {
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

  it('free their places at once when they say goodbye', async () => {
    const { start } = await fleet();
    const [first, second] = [await start(), await start()];
    await statuses([connect(first), connect(first)]);
    await first.admission.close();
    await settled();
    expect((await connect(second)).status).toBe('ok');
  });

  it('were only slow: they hold their connections again', async () => {
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

  it('look dead to nobody while the log is away for all', async () => {
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

describe('the log away', () => {
  it('lets in as far as the process itself knows, says so, and tells the log later', async () => {
    const { start, heartbeat } = await fleet();
    const [first, second] = [await start(), await start()];
    await connect(first);
    await settled();
    second.fault.logUnavailable = true;
    expect((await connect(second)).status).toBe('ok');
    expect((await connect(second)).status).toBe('too_many');
    expect(await second.metrics.registry.metrics()).toContain('gateway_admissions_fallback_total{process="test"} 1');
    // Nobody else can know: availability comes first.
    expect((await connect(first)).status).toBe('ok');
    second.fault.logUnavailable = false;
    await expect
      .poll(async () => {
        await heartbeat();
        return (await connect(first, 'a', 3)).status;
      })
      .toBe('too_many');
  });

  it('counts a connection once whose answer was lost', async () => {
    const { start } = await fleet();
    const gateway = await start();
    gateway.fault.responseLost = true;
    const slot = permitOf(await connect(gateway));
    expect(await statuses([connect(gateway), connect(gateway)])).toEqual(['ok', 'too_many']);
    gateway.fault.responseLost = false;
    slot.release();
    expect((await connect(gateway)).status).toBe('ok');
  });
});

describe('session time', () => {
  const resets = Date.UTC(2026, 10, 4);

  it('ends after an hour of the UTC day, over processes and restarts', async () => {
    const { start, clock, heartbeat } = await fleet();
    const first = await start();
    const slot = permitOf(await connectFree(first));
    clock.ms += 20 * 60_000;
    slot.release();
    await settled();
    const second = await start();
    const told: number[] = [];
    clock.ms += HOUR_MS;
    permitOf(await connectFree(second)).onSessionTimeExhausted((at) => told.push(at));
    clock.ms += 40 * 60_000 - 1;
    second.admission.checkSessionTime();
    expect(told).toEqual([]);
    clock.ms += 1;
    second.admission.checkSessionTime();
    second.admission.checkSessionTime();
    expect(told).toEqual([resets]);
    await heartbeat(2);
    expect(await connectFree(first)).toEqual({ status: 'session_used_up', resetsAtMs: resets });
    expect(await connectFree(await start())).toEqual({ status: 'session_used_up', resetsAtMs: resets });
  });

  it('is kept within a few seconds when the process is killed', async () => {
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
      second.admission.checkSessionTime();
    }
    // 3580 s are behind; what the log did not hear of when the process died is at most 5 s.
    expect(endedMs - from).toBeGreaterThanOrEqual(20_000);
    expect(endedMs - from).toBeLessThanOrEqual(25_000);
  });

  it('begins anew at midnight, also for a connection that stays', async () => {
    const { start, clock } = await fleet();
    const gateway = await start();
    clock.ms = resets - 30 * 60_000;
    const told: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => told.push(at));
    clock.ms = resets + 59 * 60_000;
    gateway.admission.checkSessionTime();
    expect(told).toEqual([]);
    clock.ms = resets + 60 * 60_000;
    gateway.admission.checkSessionTime();
    expect(told).toEqual([resets + 24 * HOUR_MS]);
  });

  it('ends no connection of an account that has a plan without it by now', async () => {
    let plan = plans.free;
    const { start, clock } = await fleet({ termsOf: () => plan });
    const gateway = await start();
    const told: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => told.push(at));
    plan = plans.starter;
    clock.ms += 2 * HOUR_MS;
    gateway.admission.checkSessionTime();
    expect(told).toEqual([]);
    expect((await gateway.admission.admit({ accountId: 'f', terms: plans.starter })).status).toBe('ok');
  });

  it('adds up thousands of short connections', async () => {
    const { start, clock } = await fleet();
    const gateway = await start();
    for (let n = 0; n < 1_000; n++) {
      const slot = permitOf(await connectFree(gateway));
      clock.ms += 3_000;
      slot.release();
      clock.ms += 500;
    }
    const told: number[] = [];
    permitOf(await connectFree(gateway)).onSessionTimeExhausted((at) => told.push(at));
    clock.ms += 600_000 - 1;
    gateway.admission.checkSessionTime();
    expect(told).toEqual([]);
    clock.ms += 1;
    gateway.admission.checkSessionTime();
    expect(told).toEqual([resets]);
  });
});

describe('any schedule', () => {
  it('of connects, closes, kills, goodbyes and starts lets in exactly as many as the cap says', async () => {
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
      { weight: 1, arbitrary: fc.record({ do: fc.constant('goodbye' as const), which }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('start' as const) }) },
    );
    const caps = { a: 3, b: 1 } as const;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { start, heartbeat, stop } = await createFleet();
        const alive = [await start(), await start()];
        let open: { readonly account: string; readonly gateway: Gateway; readonly slot: ConnectionPermit }[] = [];
        for (const one of steps) {
          if (one.do === 'connect') {
            const cap = caps[one.account as keyof typeof caps];
            const before = open.filter((session) => session.account === one.account).length;
            const answers = await Promise.all(
              one.at.map(async (n) => {
                const gateway = alive[n % alive.length] as Gateway;
                return { gateway, admitted: await connect(gateway, one.account, cap) };
              }),
            );
            for (const { gateway, admitted } of answers)
              if (admitted.status === 'ok') open.push({ account: one.account, gateway, slot: admitted.permit });
            const after = open.filter((session) => session.account === one.account).length;
            expect(after - before).toBe(Math.min(one.at.length, cap - before));
          } else if (one.do === 'close') {
            const session = open[one.which % Math.max(1, open.length)];
            open = open.filter((other) => other !== session);
            session?.slot.release();
          } else if (one.do === 'start') alive.push(await start());
          else if (alive.length > 1) {
            const [gone] = alive.splice(one.which % alive.length, 1);
            open = open.filter((session) => session.gateway !== gone);
            if (one.do === 'goodbye') await gone?.admission.close();
            else if (gone !== undefined) {
              gone.fault.killed = true;
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
