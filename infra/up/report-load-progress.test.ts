import { describe, expect, it } from 'vitest';
import type { ReadinessSummary } from './readiness-summary.js';
import { LOADED_MESSAGE, reportLoadProgress } from './report-load-progress.js';

/** One look a second: the history is at as many percent as looks were made, up to `looks`. */
async function reportedMessages(looks: number, signal = new AbortController().signal): Promise<readonly string[]> {
  const texts: string[] = [];
  let second = 0;
  const readReadiness = async (): Promise<ReadinessSummary> => {
    const loading = second < looks ? [`api: history: fills ${second} %`] : [];
    second++;
    return { failing: [], down: [], loading };
  };
  await reportLoadProgress({
    readReadiness,
    print: (text) => texts.push(text),
    signal,
    pollMs: 0,
    nowMs: () => second * 1_000,
  });
  return texts;
}

describe('reportLoadProgress', () => {
  it('says how far the history is ever more seldom, and once that it is loaded', async () => {
    expect(await reportedMessages(40)).toEqual([
      'The history is loading: fills 4 %',
      'The history is loading: fills 14 %',
      'The history is loading: fills 34 %',
      LOADED_MESSAGE,
    ]);
  });

  it('says nothing of a start that is loaded at the first look, nor after the signal', async () => {
    expect(await reportedMessages(0)).toEqual([]);
    expect(await reportedMessages(40, AbortSignal.abort())).toEqual([]);
  });
});
