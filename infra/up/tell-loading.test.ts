import { describe, expect, it } from 'vitest';
import type { Standing } from './progress.js';
import { LOADED, tellLoading } from './tell-loading.js';

/** One look a second: the history is at as many percent as looks were made, up to `looks`. */
async function said(looks: number, signal = new AbortController().signal): Promise<readonly string[]> {
  const texts: string[] = [];
  let second = 0;
  const standing = async (): Promise<Standing> => {
    const loading = second < looks ? [`api: history: fills ${second} %`] : [];
    second++;
    return { trouble: [], down: [], loading };
  };
  await tellLoading({ standing, say: (text) => texts.push(text), signal, lookMs: 0, nowMs: () => second * 1_000 });
  return texts;
}

describe('tellLoading', () => {
  it('says how far the history is ever more seldom, and once that it is loaded', async () => {
    expect(await said(40)).toEqual([
      'The history is loading: fills 4 %',
      'The history is loading: fills 14 %',
      'The history is loading: fills 34 %',
      LOADED,
    ]);
  });

  it('says nothing of a start that is loaded at the first look, nor after the signal', async () => {
    expect(await said(0)).toEqual([]);
    expect(await said(40, AbortSignal.abort())).toEqual([]);
  });
});
