import { defineConfig } from 'vitest/config';

const everything = ['{schemas,infra,ingest,processors,api,stream-gateway,tests}/**/*.test.ts'];
/** Each file has a fork of its own: the table engine allows one data directory per process. */
const isolated = ['{tests,infra/clickhouse}/**/*.test.ts'];
const outside = ['**/node_modules/**', '**/dist/**', '**/data/**'];

export default defineConfig({
  test: {
    globalSetup: 'tests/support/run-dir.ts',
    setupFiles: 'tests/support/tell-output.ts',
    pool: 'forks',
    // One more than the cores of the smallest machine: files that wait for processes leave a core idle a fifth of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    // Projects run in the order of their names: the short files come last and keep the workers busy to the end.
    projects: [
      { extends: true, test: { name: 'isolated', include: isolated, exclude: outside } },
      // To start a fork and to load the modules again takes longer than most of these files.
      {
        extends: true,
        test: { name: 'rooms', include: everything, exclude: [...outside, ...isolated], isolate: false },
      },
    ],
  },
});
