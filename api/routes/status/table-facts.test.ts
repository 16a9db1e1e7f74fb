import { expect, it } from 'vitest';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createResponseCache } from '../../cache/response-cache.js';
import { MissingTablesError } from '../../tables/port.js';
import { createTableFacts } from './table-facts.js';

it('a failing table is logged once until it can be read again', async () => {
  const warnings: string[] = [];
  const logger = Object.assign(silentLogger(), { warn: (_fields: object, text: string) => warnings.push(text) });
  let nowMs = 0;
  let fails = true;
  const rows = async () => {
    if (fails) throw new Error('no table');
    return [];
  };
  const cache = createResponseCache({ nowMs: () => nowMs });
  const facts = createTableFacts({ tables: { rows } as never, cache, logger });
  for (let n = 0; n < 3; n++) expect([await facts.counts(), await facts.alarms()]).toEqual([null, null]);
  expect(warnings).toEqual([
    'status counts are null: the tables cannot be read',
    'status alarms are null: the tables cannot be read',
  ]);
  fails = false;
  expect(await facts.alarms()).toEqual([]);
  fails = true;
  nowMs += 60_000;
  expect(await facts.alarms()).toBeNull();
  expect(warnings).toHaveLength(3);
});

it('tables that are not created yet are no warning', async () => {
  const lines: string[] = [];
  const logger = Object.assign(silentLogger(), {
    warn: (_fields: object, text: string) => lines.push(`warn ${text}`),
    info: (text: string) => lines.push(`info ${text}`),
  });
  const rows = () => Promise.reject(new MissingTablesError('no table'));
  const cache = createResponseCache({ nowMs: () => 0 });
  const facts = createTableFacts({ tables: { rows } as never, cache, logger });
  expect(await facts.alarms()).toBeNull();
  expect(lines).toEqual(['info status alarms are null until the processors have created the tables']);
});
