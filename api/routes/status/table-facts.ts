import type { Logger } from '../../../infra/telemetry/logger.js';
import type { TtlCache } from '../../cache/ttl-cache.js';
import type { Tables } from '../../tables/port.js';
import { type CountsRow, countsSql, type UnknownEventRow, unknownEventsSql } from './status.sql.js';

const COUNTS_CACHE_MS = 30_000;
const ALARMS_CACHE_MS = 5_000;

/** What the state of the service needs from the tables, cached. Results are null while the tables cannot be read. */
export interface TableFacts {
  counts(): Promise<CountsRow | null>;
  alarms(): Promise<readonly UnknownEventRow[] | null>;
}

export function createTableFacts(deps: { tables: Tables; cache: TtlCache; logger: Logger }): TableFacts {
  const { tables, cache, logger } = deps;
  return {
    async counts() {
      try {
        const cached = await cache.get('status-counts', COUNTS_CACHE_MS, () => tables.rows<CountsRow>(countsSql));
        return cached.value[0] ?? null;
      } catch (error) {
        logger.warn({ err: error }, 'status counts are null: the tables cannot be read');
        return null;
      }
    },
    async alarms() {
      try {
        const cached = await cache.get('status-alarms', ALARMS_CACHE_MS, () =>
          tables.rows<UnknownEventRow>(unknownEventsSql),
        );
        return cached.value;
      } catch (error) {
        logger.warn({ err: error }, 'status alarms are null: the tables cannot be read');
        return null;
      }
    },
  };
}
