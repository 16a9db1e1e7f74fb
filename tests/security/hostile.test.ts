import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPaths, startAdminServer } from '../../infra/telemetry/admin-server.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { type HostileInput, hostileInputs, seededRandom } from './hostile-inputs.js';

/** More by hand, and elsewhere: each seed is another sequence. */
const INPUTS = Number(process.env.ODDSTREAM_HOSTILE_INPUTS ?? 2_000);
const SEED = Number(process.env.ODDSTREAM_HOSTILE_SEED ?? 1);
const AT_ONCE = 16;
/** Of an input that may be no whole request the sender says after this that nothing follows. */
const IDLE_MS = 200;
const RESPONSE_TIMEOUT_MS = 20_000;
/** Advance of the API's clock per input: keeps the account below its limits. */
const CLOCK_STEP_MS = 100;

type Outcome = { readonly status: number } | 'closed' | 'silent';

/** Sends the bytes over a connection of their own and takes the first status of what comes back. */
const exchange = (port: number, input: HostileInput) =>
  new Promise<Outcome>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let response = '';
    const finish = (outcome: Outcome) => {
      clearTimeout(timer);
      clearTimeout(halfClose);
      resolve(outcome);
      socket.destroy();
    };
    const timer = setTimeout(() => finish('silent'), RESPONSE_TIMEOUT_MS);
    const halfClose = input.mayStayUnanswered ? setTimeout(() => socket.end(), IDLE_MS) : undefined;
    socket.on('data', (data) => {
      response += data.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n/.exec(response.replace(/^HTTP\/1\.1 100[^\r]*\r\n\r\n/, ''))?.[1];
      if (status !== undefined) finish({ status: Number(status) });
    });
    socket.on('error', () => finish('closed'));
    socket.on('close', () => finish('closed'));
    socket.write(input.bytes);
  });

/** Sends `count` inputs. Returns the number of each outcome, and the inputs with a wrong response. */
async function attack(port: number, inputs: Iterator<HostileInput>, count: number, onInput: () => void) {
  const outcomes = new Map<string, number>();
  const wrong: string[] = [];
  let sent = 0;
  const worker = async () => {
    while (sent < count) {
      sent += 1;
      onInput();
      const input = inputs.next().value as HostileInput;
      const outcome = await exchange(port, input);
      const label = typeof outcome === 'string' ? outcome : String(outcome.status);
      outcomes.set(label, (outcomes.get(label) ?? 0) + 1);
      const isUnanswered = outcome === 'silent' || (outcome === 'closed' && !input.mayStayUnanswered);
      const isWrong = isUnanswered || (typeof outcome !== 'string' && outcome.status >= 500);
      if (isWrong) wrong.push(`${label} ${input.kind} ${JSON.stringify(input.bytes.toString('latin1').slice(0, 600))}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  // Shown by vitest with the test's name; a run by hand is made for it.
  if (process.env.ODDSTREAM_HOSTILE_INPUTS !== undefined) {
    process.stderr.write(
      `${count} inputs: ${[...outcomes]
        .sort()
        .map(([label, n]) => `${label} ${n}`)
        .join(', ')}\n`,
    );
  }
  return { outcomes, wrong };
}

const logged: string[] = [];

describe('hostile requests', () => {
  let api: ApiHarness;
  beforeAll(async () => {
    api = await startApi({
      logger: pino({ level: 'warn' }, { write: (line) => logged.push(line) }),
      nowMs: Date.UTC(2027, 4, 22),
    });
  });
  afterAll(() => api.stop());

  it('to the api never cause a server error, and it keeps serving', async () => {
    const keys = [await api.key('enterprise'), await api.key('free')];
    const random = seededRandom(SEED);
    const key = () => (random() < 0.9 ? keys[0] : keys[1]) as string;
    // Its 503 is no error: the source's report is too old for the clock.
    const routes = api.service.routes.filter((route) => route.path !== '/readyz');
    const pages = api.service.app.router.stack.flatMap((layer) =>
      /^\/($|docs|app|sql|console|openapi|asyncapi|favicon|card)/.test(layer.route?.path ?? '-')
        ? [{ method: 'get' as const, path: layer.route?.path ?? '/', query: null, body: null }]
        : [],
    );
    expect(pages.length).toBeGreaterThan(20);
    const openUntilMs = api.clock.nowMs;
    const { outcomes, wrong } = await attack(
      Number(new URL(api.url).port),
      hostileInputs(random, [...routes, ...pages], key),
      INPUTS,
      () => {
        api.clock.nowMs += CLOCK_STEP_MS;
      },
    );
    // With what the API logged, so that one report suffices to find a rare failure.
    expect(wrong, logged.slice(-20).join('')).toEqual([]);
    // Inputs that never get behind the first check prove little.
    expect((outcomes.get('200') ?? 0) / INPUTS).toBeGreaterThan(0.1);
    expect((outcomes.get('429') ?? 0) / INPUTS).toBeLessThan(0.1);
    api.clock.nowMs = openUntilMs;
    await api.reportSource({});
    expect((await api.get('/healthz')).status).toBe(200);
    expect((await api.get('/readyz')).status).toBe(200);
  }, 600_000);

  it('to an admin port never cause a server error, and it keeps serving', async () => {
    const metrics = createMetrics({ process: 'test', defaults: false });
    const readiness = () => ({ ready: true, checks: {} });
    const admin = await startAdminServer({ host: '127.0.0.1', port: 0, metrics, readiness, allowedHosts: [] });
    try {
      const routes = adminPaths.map((path) => ({ method: 'get' as const, path, query: null, body: null }));
      const inputs = hostileInputs(seededRandom(SEED), routes, () => 'none');
      const { wrong } = await attack(admin.port, inputs, INPUTS, () => undefined);
      expect(wrong).toEqual([]);
      for (const path of adminPaths) expect((await fetch(`http://127.0.0.1:${admin.port}${path}`)).status).toBe(200);
    } finally {
      await admin.close();
    }
  }, 600_000);
});
