import { expect, it } from 'vitest';
import { RetryableError } from '../infra/errors.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { createSchemaCreation } from './schema-creation.js';

it('the check says what is created, or why that fails, and passes at the end', async () => {
  const { signal } = new AbortController();
  const seen: unknown[] = [];
  let attempts = 0;
  const schema = createSchemaCreation({
    tables: async () => {
      seen.push(schema.check());
      attempts += 1;
      if (attempts === 1) throw new RetryableError('connect ECONNREFUSED');
    },
    views: async () => {
      seen.push(schema.check());
    },
    logger: silentLogger(),
  });
  await schema.createTables(signal);
  await schema.createViews(signal);
  expect([...seen, schema.check()]).toEqual([
    { ok: false, detail: 'creating tables' },
    { ok: false, detail: 'cannot create tables: connect ECONNREFUSED' },
    { ok: false, detail: "creating the analysts' views" },
    { ok: true },
  ]);
});
