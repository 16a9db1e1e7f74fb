import { describe, expect, it } from 'vitest';
import { createHealthRegistry } from './readiness.js';

describe('createHealthRegistry', () => {
  it('reports that the process is starting until markStarted', async () => {
    const registry = createHealthRegistry();
    expect(await registry.readiness()).toEqual({
      ready: false,
      checks: { start: { ok: false, loading: true, detail: 'starting' } },
    });
  });

  it('merges the checks of all sources', async () => {
    const registry = createHealthRegistry();
    registry.register('log', () => ({ log: { ok: true } }));
    expect((await registry.readiness()).ready).toBe(false);
    registry.markStarted('main', () => ({ main: { ok: true } }));
    expect((await registry.readiness()).ready).toBe(true);
    registry.register('processors', async () => ({ one: { ok: true }, two: { ok: false, detail: 'behind' } }));
    expect(await registry.readiness()).toEqual({
      ready: false,
      checks: { log: { ok: true }, main: { ok: true }, one: { ok: true }, two: { ok: false, detail: 'behind' } },
    });
  });

  it('returns although a source throws or hangs, and does not start a hanging one twice', async () => {
    const registry = createHealthRegistry({ checkTimeoutMs: 20 });
    registry.markStarted('main', () => ({}));
    let calls = 0;
    let finish: (checks: Record<string, { ok: boolean }>) => void = () => undefined;
    registry.register('broken', () => {
      throw new Error('no route');
    });
    registry.register('hanging', () => {
      calls++;
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    const first = await registry.readiness();
    expect(first.checks.broken).toEqual({ ok: false, detail: 'no route' });
    expect(first.checks.hanging).toMatchObject({ ok: false, detail: expect.stringContaining('no response') });
    await registry.readiness();
    expect(calls).toBe(1);
    finish({ hanging: { ok: true } });
    await new Promise((resolve) => setImmediate(resolve));
    const last = registry.readiness();
    expect(calls).toBe(2);
    finish({ hanging: { ok: true } });
    expect((await last).checks.hanging).toEqual({ ok: true });
  });
});
