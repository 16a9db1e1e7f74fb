import type { Logger } from '../infra/telemetry/logger.js';
import type { Check } from '../infra/telemetry/readiness.js';
import { retryUntilSuccess } from './sink/retry.js';

export interface SchemaCreation {
  /** Creates the tables, which is repeated until it succeeds. Rejects as `retryUntilSuccess` does. */
  createTables(signal: AbortSignal): Promise<void>;
  /** Creates the analysts' views, in the same way. */
  createViews(signal: AbortSignal): Promise<void>;
  /** Passes when tables and views exist; says what is created, or why that fails. Not `loading`: without tables the product is not up. */
  check(): Check;
}

export function createSchemaCreation(options: {
  readonly tables: () => Promise<unknown>;
  readonly views: () => Promise<unknown>;
  readonly logger: Logger;
}): SchemaCreation {
  let check: Check = { ok: false, detail: 'creating tables' };
  const create = async (what: string, work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
    check = { ok: false, detail: `creating ${what}` };
    await retryUntilSuccess(`create ${what}`, work, {
      signal,
      onFailure: (error, delayMs) => {
        check = {
          ok: false,
          detail: `cannot create ${what}: ${error instanceof Error ? error.message : String(error)}`,
        };
        options.logger.warn({ err: error, delayMs }, `cannot create ${what}, trying again`);
      },
    });
  };
  return {
    createTables: (signal) => create('tables', options.tables, signal),
    async createViews(signal) {
      await create("the analysts' views", options.views, signal);
      check = { ok: true };
    },
    check: () => check,
  };
}
