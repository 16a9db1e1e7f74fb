import { afterEach } from 'vitest';
import { pageReports } from './page-reports.js';
import { outputs } from './product.js';

/** Enough for the last output of five processes. */
const MAX_PRINTED_CHARACTERS = 20_000;

// Prints the last output of the processes of a failed test and its open pages, so that one report suffices to find a rare failure.
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') {
    for (const [dataDir, { text }] of outputs)
      console.error(`--- ${dataDir}:\n${text().slice(-MAX_PRINTED_CHARACTERS)}`);
    for (const report of pageReports) console.error(await report());
  }
  for (const [dataDir, { isStopped }] of outputs) if (isStopped()) outputs.delete(dataDir);
});
