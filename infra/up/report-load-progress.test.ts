import { describe, expect, it } from 'vitest';
import type { ReadinessSummary } from './readiness-summary.js';
import { LOADED_MESSAGE, reportLoadProgress } from './report-load-progress.js';

/** One check per second: the history is loaded by one percent per check, up to `checks`. */
async function reportedMessages(checks: number, signal = new AbortController().signal): Promise<readonly string[]> {
  const texts: string[] = [];
  let second = 0;
  const readReadiness = async (): Promise<ReadinessSummary> => {
    const loading = second < checks ? [`api: history: fills ${second} %`] : [];
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
  it('prints the progress at growing intervals, and once that the history is loaded', async () => {
    expect(await reportedMessages(40)).toEqual([
      'The history is loading: fills 4 %',
      'The history is loading: fills 14 %',
      'The history is loading: fills 34 %',
      LOADED_MESSAGE,
    ]);
  });

  it('prints nothing when the history is loaded at the first check, nor after the signal', async () => {
    expect(await reportedMessages(0)).toEqual([]);
    expect(await reportedMessages(40, AbortSignal.abort())).toEqual([]);
  });
});
