import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Route } from '../../api/http/route.js';
import { type ApiHarness, startApi } from '../support/api.js';

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: 1_790_000_000_000 });
  key = await api.key('enterprise');
}, 60_000);
afterAll(() => api?.stop());

const UNKNOWN = 'zzz';
/** Routes whose callers are monitors and load balancers, which add parameters of their own. */
const OPEN = ['/healthz', '/readyz'];
const namesOf = (route: Route): string[] => [...Object.keys(route.query?.shape ?? {}), ...Object.keys(route.aliases)];
const refusing = (): readonly Route[] => api.service.routes.filter((route) => !OPEN.includes(route.path));

/** The error of a request that must answer 400; the next one comes a minute later, past every limit. */
async function refusal(route: Route, query: string): Promise<string> {
  api.clock.nowMs += 60_000;
  const path = `${route.path.replace(/\{\w+\}/g, 'x')}?${query}`;
  const init = route.method === 'post' ? { method: 'POST', body: '{}' } : {};
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const { status, body } = await api.request(path, { ...init, headers });
  expect([path, status, Object.keys(body as object)]).toEqual([path, 400, ['error']]);
  return (body as { error: string }).error;
}

it('every route refuses an unknown parameter in the words of its group', async () => {
  expect(refusing().length).toBeGreaterThan(75);
  for (const route of refusing()) {
    const sentences = ['root', 'v1', 'v2', 'v2x'].includes(route.family);
    const names = Object.keys(route.query?.shape ?? {}).join(', ');
    const advice = names === '' ? 'this endpoint takes none' : `use ${names}`;
    expect(await refusal(route, `${UNKNOWN}=1`)).toBe(
      sentences
        ? `Unknown query parameter '${UNKNOWN}'. ${advice[0]?.toUpperCase()}${advice.slice(1)}`
        : `unknown query parameter '${UNKNOWN}': ${advice}`,
    );
  }
});

it('every route names the parameter that a name one letter off was meant for', async () => {
  for (const route of refusing()) {
    const names = namesOf(route);
    for (const name of [...names, 'key']) {
      const middle = Math.ceil(name.length / 2);
      const typo = `${name.slice(0, middle)}x${name.slice(middle)}`;
      expect(names).not.toContain(typo);
      const error = await refusal(route, `${typo}=1`);
      // `minSize` and `min_size` are equally near.
      const plain = (text: string) => text.toLowerCase().replaceAll('_', '');
      expect([route.path, plain(error)]).toEqual([
        route.path,
        expect.stringContaining(`did you mean '${plain(name)}'?`),
      ]);
    }
  }
});

it.each(OPEN)('%s answers whatever a monitor adds', async (path) => {
  expect((await api.get(`${path}?cachebust=1&zzz=2`)).status).not.toBe(400);
});

it('the document lists every name a route knows, aliases among them', () => {
  const paths = api.service.openApi.paths as Record<
    string,
    Record<string, { parameters: { name: string; in: string }[] }>
  >;
  for (const route of api.service.routes) {
    const listed = paths[route.path]?.[route.method]?.parameters.filter((one) => one.in === 'query') ?? [];
    expect([route.path, listed.map((one) => one.name)]).toEqual([route.path, namesOf(route)]);
  }
});
