import { afterEach } from 'vitest';
import { outputs } from './product.js';

/** Enough for the last words of five processes. */
const MAX_PRINTED_CHARACTERS = 20_000;

// A failed test of real processes says what they said last: a failure that shows once in many runs is to be found from one report.
afterEach(({ task }) => {
  if (task.result?.state === 'fail') {
    for (const [dataDir, { said }] of outputs)
      console.error(`--- ${dataDir}:\n${said().slice(-MAX_PRINTED_CHARACTERS)}`);
  }
  for (const [dataDir, { over }] of outputs) if (over()) outputs.delete(dataDir);
});
