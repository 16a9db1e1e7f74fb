import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'tests/support/run-dir.ts',
    setupFiles: 'tests/support/tell-output.ts',
    pool: 'forks',
    maxWorkers: 2,
    include: ['{schemas,infra,ingest,processors,api,stream-gateway,tests}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/data/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
