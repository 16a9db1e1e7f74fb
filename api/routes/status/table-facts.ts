import type { Logger } from '../../../infra/telemetry/logger.js';
import type { ResponseCache } from '../../cache/response-cache.js';
import { MissingTablesError, type Sql, type Tables } from '../../tables/port.js';
import { type CountsRow, countsSql, type UnknownEventRow, unknownEventsSql } from './status.sql.js';

const COUNTS_CACHE_MS = 30_000;
const ALARMS_CACHE_MS = 5_000;

export type TableFacts = ReturnType<typeof createTableFacts>;

/** What the state of the service needs from the tables, cached. Results are null while the tables cannot be read. */
export function createTableFacts(deps: { tables: Tables; cache: ResponseCache; logger: Logger }) {
  const { tables, cache, logger } = deps;
  /** Facts whose last read failed: a failure is logged once, because the status is requested several times a second while the product starts. */
  const failing = new Set<string>();
  const read = async <T>(name: string, cacheMs: number, sql: Sql): Promise<readonly T[] | null> => {
    try {
      const cached = await cache.get(`status-${name}`, cacheMs, () => tables.rows<T>(sql));
      failing.delete(name);
      return cached.value;
    } catch (error) {
      if (!failing.has(name)) {
        if (error instanceof MissingTablesError)
          logger.info(`status ${name} are null until the processors have created the tables`);
        else logger.warn({ err: error }, `status ${name} are null: the tables cannot be read`);
      }
      failing.add(name);
      return null;
    }
  };
  return {
    counts: async () => (await read<CountsRow>('counts', COUNTS_CACHE_MS, countsSql))?.[0] ?? null,
    alarms: () => read<UnknownEventRow>('alarms', ALARMS_CACHE_MS, unknownEventsSql),
  };
}
