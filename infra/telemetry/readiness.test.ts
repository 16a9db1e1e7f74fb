import { describe, expect, it } from 'vitest';
import { createReadinessBoard } from './readiness.js';

describe('createReadinessBoard', () => {
  it('says that the process is starting until it has something to tell', async () => {
    const board = createReadinessBoard();
    expect(await board.current()).toEqual({
      ready: false,
      checks: { start: { ok: false, loading: true, detail: 'starting' } },
    });
  });

  it('puts the checks of all sources together', async () => {
    const board = createReadinessBoard();
    board.add('log', () => ({ log: { ok: true } }));
    expect((await board.current()).ready).toBe(false);
    board.started('own', () => ({ own: { ok: true } }));
    expect((await board.current()).ready).toBe(true);
    board.add('folds', async () => ({ one: { ok: true }, two: { ok: false, detail: 'behind' } }));
    expect(await board.current()).toEqual({
      ready: false,
      checks: { log: { ok: true }, own: { ok: true }, one: { ok: true }, two: { ok: false, detail: 'behind' } },
    });
  });

  it('answers although a source throws or hangs, and asks a hanging one only once', async () => {
    const board = createReadinessBoard({ answerWithinMs: 20 });
    board.started('own', () => ({}));
    let asked = 0;
    let answer: (checks: Record<string, { ok: boolean }>) => void = () => undefined;
    board.add('broken', () => {
      throw new Error('no route');
    });
    board.add('hanging', () => {
      asked++;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const first = await board.current();
    expect(first.checks.broken).toEqual({ ok: false, detail: 'no route' });
    expect(first.checks.hanging).toMatchObject({ ok: false, detail: expect.stringContaining('no answer') });
    await board.current();
    expect(asked).toBe(1);
    answer({ hanging: { ok: true } });
    await new Promise((resolve) => setImmediate(resolve));
    const last = board.current();
    expect(asked).toBe(2);
    answer({ hanging: { ok: true } });
    expect((await last).checks.hanging).toEqual({ ok: true });
  });
});
