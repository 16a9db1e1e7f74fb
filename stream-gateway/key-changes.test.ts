import { afterEach, describe, expect, it } from 'vitest';
import { type PlanTerms, plans } from '../schemas/plans.js';
import { connectTestClient, startTestGateway, streamEvent } from './testing.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const START_MS = Date.UTC(2026, 10, 1);

/** A gateway that checks keys every 10 ms; `terms` are those of every key, null: revoked. */
async function gateway() {
  const state = { terms: plans.growth as PlanTerms | null, usedUp: new Set<string>() };
  const started = await startTestGateway({
    verifyKey: (key) => ({ status: 'ok', accountId: 'acme', keyHash: key, terms: state.terms ?? plans.growth }),
    termsOfKey: (keyHash) => (keyHash === 'other' ? plans.growth : state.terms),
    usedUpUntil: (_account, meter) => (state.usedUp.has(meter) ? START_MS : null),
    limits: { tickMs: 10 },
  });
  cleanups.push(() => started.server.close());
  const client = async (key: string) => {
    const connected = await connectTestClient(started.server, { key });
    cleanups.push(() => connected.socket.terminate());
    return connected;
  };
  return { ...started, state, client };
}

describe('open connections', () => {
  it('of a key that no longer works are closed with 4403; those of other keys stay', async () => {
    const { state, client, server } = await gateway();
    const [revoked, other] = [await client('mine'), await client('other')];
    state.terms = null;
    expect(await revoked.closed).toEqual({ code: 4403, reason: 'API key no longer valid' });
    other.send({ action: 'ping' });
    expect(await other.next()).toMatchObject({ type: 'pong' });
    expect(server.connections()).toBe(1);
  });

  it('have the snapshot and filter caps of a new plan from the next subscription on', async () => {
    const { state, client } = await gateway();
    const { send, next } = await client('mine');
    const subscribe = {
      action: 'subscribe',
      type: 'trades',
      filters: { snapshot_count: 500, wallets: [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] },
    };
    const ack = async () => {
      send(subscribe);
      const frame = await next();
      if (frame.type === 'subscribed') await next();
      return frame;
    };
    expect(await ack()).toMatchObject({ warnings: ['snapshot_count clamped to 200, the cap of your plan'] });
    state.terms = plans.starter;
    await expect
      .poll(async () => (await ack()).warnings)
      .toEqual(['snapshot_count clamped to 100, the cap of your plan']);
    state.terms = { ...plans.starter, filterItemsPerSubscription: 1 };
    await expect.poll(async () => (await ack()).code).toBe('filter_limit');
  });

  it('end with an error and 4402 once a meter that they use is used up, and when they subscribe to it', async () => {
    const { state, client, publish } = await gateway();
    const [events, prices] = [await client('mine'), await client('mine')];
    events.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
    prices.send({ action: 'subscribe', type: 'chainlink' });
    expect([await events.next(), await prices.next()]).toMatchObject([{ type: 'subscribed' }, { type: 'subscribed' }]);
    await publish(streamEvent(1));
    expect(await events.next()).toMatchObject({ type: 'trade' });

    state.usedUp.add('onchain_event_bytes');
    expect(await events.next()).toEqual({
      type: 'error',
      code: 'monthly_allowance_used_up',
      message: 'The allowance of your plan and all packages of this meter are used up.',
      meter: 'onchain_event_bytes',
      resets_at: '2026-11-01T00:00:00.000Z',
    });
    expect(await events.closed).toEqual({ code: 4402, reason: 'monthly allowance used up' });

    prices.send({ action: 'ping' });
    expect(await prices.next()).toMatchObject({ type: 'pong' });
    prices.send({ action: 'subscribe', type: 'blocks' });
    expect(await prices.next()).toMatchObject({ code: 'monthly_allowance_used_up', meter: 'onchain_event_bytes' });
    expect((await prices.closed).code).toBe(4402);
  });
});
