import { describe, expect, it } from 'vitest';
import { createHealthRegistry } from './readiness.js';

describe('createHealthRegistry', () => {
  it('says that the process is starting until it has something to tell', async () => {
    const board = createHealthRegistry();
    expect(await board.readiness()).toEqual({
      ready: false,
      checks: { start: { ok: false, loading: true, detail: 'starting' } },
    });
  });

  it('puts the checks of all sources together', async () => {
    const board = createHealthRegistry();
    board.register('log', () => ({ log: { ok: true } }));
    expect((await board.readiness()).ready).toBe(false);
    board.markStarted('own', () => ({ own: { ok: true } }));
    expect((await board.readiness()).ready).toBe(true);
    board.register('folds', async () => ({ one: { ok: true }, two: { ok: false, detail: 'behind' } }));
    expect(await board.readiness()).toEqual({
      ready: false,
      checks: { log: { ok: true }, own: { ok: true }, one: { ok: true }, two: { ok: false, detail: 'behind' } },
    });
  });

  it('answers although a source throws or hangs, and asks a hanging one only once', async () => {
    const board = createHealthRegistry({ checkTimeoutMs: 20 });
    board.markStarted('own', () => ({}));
    let asked = 0;
    let answer: (checks: Record<string, { ok: boolean }>) => void = () => undefined;
    board.register('broken', () => {
      throw new Error('no route');
    });
    board.register('hanging', () => {
      asked++;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const first = await board.readiness();
    expect(first.checks.broken).toEqual({ ok: false, detail: 'no route' });
    expect(first.checks.hanging).toMatchObject({ ok: false, detail: expect.stringContaining('no answer') });
    await board.readiness();
    expect(asked).toBe(1);
    answer({ hanging: { ok: true } });
    await new Promise((resolve) => setImmediate(resolve));
    const last = board.readiness();
    expect(asked).toBe(2);
    answer({ hanging: { ok: true } });
    expect((await last).checks.hanging).toEqual({ ok: true });
  });
});
