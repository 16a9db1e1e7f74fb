import { describe, expect, it } from 'vitest';
import type { Decide } from '../../api/accounts/decide.js';
import { ApiError } from '../../api/errors/failure.js';
import type { RequestContext } from '../../api/http/route.js';
import { createKeyRoute } from '../../api/routes/keys/create-key.js';
import type { AccountsReadModel } from '../../infra/accounts/read-model.js';
import { applyCommand } from '../../processors/accounts/apply-command.js';
import { createAccountsState } from '../../processors/accounts/state.js';
import { hashKey } from '../../schemas/api-keys.js';
import type { AccountCommand, Outcome } from '../../schemas/types.gen.js';

const NOW = Date.UTC(2027, 4, 22, 15, 40);

/** The route over the rules of the accounts processor, which decides commands while it runs. The first `behind` lookups are of before the key. */
function world(behind = 0) {
  const state = createAccountsState();
  const waiting: AccountCommand[] = [];
  const clock = { nowMs: NOW };
  let running = true;
  let count = 0;
  let lookups = 0;
  const run = (command: AccountCommand): Outcome => {
    const change = applyCommand(state, command).find(({ entity }) => entity === `outcome:${command.id}`);
    if (change?.value == null || !('oddstream.Outcome' in change.value.state)) throw new Error('no outcome');
    return change.value.state['oddstream.Outcome'];
  };
  const decide: Decide = async (command) => {
    const sent = { id: `c${++count}`, issued_at_ms: clock.nowMs, command, author: 'system' } as AccountCommand;
    if (running) return run(sent);
    waiting.push(sent);
    throw new ApiError({ kind: 'upstream', retryAfterS: 5 });
  };
  const lookupKey = ((rawKey: string) => ({
    status: ++lookups > behind && state.keys.has(`key:${hashKey(rawKey)}`) ? 'ok' : 'unknown',
  })) as unknown as AccountsReadModel['lookupKey'];
  const route = createKeyRoute({ decide, lookupKey, addressSecret: 'test secret' });
  return {
    state,
    clock,
    stop() {
      running = false;
    },
    start() {
      running = true;
      for (const command of waiting.splice(0)) run(command);
    },
    /** The key, or the kind of the error. */
    async post(name: string, clientIp = '203.0.113.7'): Promise<{ key?: string; name?: string; error?: string }> {
      const input = { query: new URLSearchParams(), params: {}, body: { name } };
      const context = { clientIp, nowMs: clock.nowMs } as RequestContext;
      try {
        const { body } = await route.handle(input, context);
        const created = body as { api_key: string; name: string };
        return { key: created.api_key, name: created.name };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { error: error.failure.kind };
      }
    },
  };
}

describe('POST /v1/keys after a request without an outcome', () => {
  it('returns the key that was created meanwhile, once and under its name', async () => {
    const { post, stop, start, state } = world();
    stop();
    expect(await post('first')).toEqual({ error: 'upstream' });
    start();
    const [key] = state.keys.values();
    const [one, two] = await Promise.all([post('second'), post('third')]);
    expect(one?.name).toBe('first');
    expect(hashKey(one?.key ?? '')).toBe(key?.key_hash);
    expect(two).toEqual({ error: 'rate_limited' });
    expect(await post('fourth')).toEqual({ error: 'rate_limited' });
    expect(state.keys.size).toBe(1);
  });

  it('sends the same key again while the processor is stopped, which then creates one', async () => {
    const { post, stop, start, state } = world();
    stop();
    for (const name of ['first', 'second', 'third']) expect(await post(name)).toEqual({ error: 'upstream' });
    start();
    const reply = await post('fourth');
    expect([...state.keys.values()].map(({ key_hash }) => key_hash)).toEqual([hashKey(reply.key ?? '')]);
    expect(state.accounts.size).toBe(1);
  });

  it('returns the key if it becomes known after the command was sent again, which is rejected', async () => {
    const { post, stop, start, state } = world(1);
    stop();
    expect(await post('first')).toEqual({ error: 'upstream' });
    start();
    const reply = await post('second');
    expect([...state.keys.values()].map(({ key_hash }) => key_hash)).toEqual([hashKey(reply.key ?? '')]);
  });

  it('gives another network, and the next day, keys of their own', async () => {
    const { post, stop, start, clock, state } = world();
    stop();
    expect(await post('first')).toEqual({ error: 'upstream' });
    start();
    expect((await post('other', '203.0.113.8')).name).toBe('other');
    clock.nowMs += 86_400_000;
    expect((await post('next day')).name).toBe('next day');
    expect(state.keys.size).toBe(3);
  });
});
