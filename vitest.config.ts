import { defineConfig } from 'vitest/config';

const sources = '{schemas,infra,ingest,processors,pages,api,stream-gateway}';
const outside = ['**/node_modules/**', '**/dist/**', '**/data/**', '**/data-live/**'];
const containerTests = ['tests/containers/**/*.test.ts'];
const runsContainers = process.env.ODDSTREAM_TEST_CONTAINERS === '1';
/** Their suites run on containers instead. */
const serverTests = [
  'tests/conformance/log-kafka.test.ts',
  'tests/registry/registry.test.ts',
  'tests/api/rate-limit-redis.test.ts',
  // The compose file's services are killed on Kafka, too.
  'tests/faults/kafka-kills.test.ts',
];
const integrationTests = [`${sources}/**/*.integration.test.ts`, 'tests/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: 'tests/support/run-dir.ts',
    setupFiles: 'tests/support/print-output-on-failure.ts',
    pool: 'forks',
    // One more than the cores of the smallest machine: files that wait for processes leave a core idle a fifth of the time.
    maxWorkers: 3,
    // Three files at a time on two slow cores make a test of seconds take a minute.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 60_000 } },
    // Projects run in the order of their names: the short files come last and keep the workers busy to the end.
    projects: [
      // `npm run test:containers` only, which CI runs after the others.
      ...(runsContainers
        ? [{ extends: true as const, test: { name: 'containers', include: containerTests, exclude: outside } }]
        : []),
      // Start processes or the embedded engine. Files share workers here too: to import the API in each takes a third of the time of a run.
      {
        extends: true,
        test: {
          name: 'integration',
          include: integrationTests,
          exclude: [...outside, ...containerTests, ...(runsContainers ? serverTests : [])],
          isolate: false,
        },
      },
      // Start no process and no engine. Files share workers: starting one takes longer than most of these files.
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${sources}/**/*.test.ts`],
          exclude: [...outside, '**/*.integration.test.ts'],
          isolate: false,
        },
      },
    ],
  },
});
