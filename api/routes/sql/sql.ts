import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import { createConcurrencyLimiter } from '../../limits/concurrency-limiter.js';
import { enforceFeatureLimit, type FeatureLimit } from '../../limits/feature-limit.js';
import type { RateLimitStore } from '../../limits/port.js';
import { type AnalystQueries, type AnalystStatement, disconnected } from '../../sql/analyst-queries.js';
import { type SqlFormat, sqlFormats } from '../../sql/formats.js';

/** Longest statement, in characters. */
const MAX_SQL = 32_768;
/** JSON escapes may double the statement. */
const BODY_LIMIT_BYTES = 128 * 1024;
const MAX_ROWS = 10_000;
const DEFAULT_ROWS = 1_000;
const MAX_WAIT_MS = 10_000;

const PER_MINUTE: FeatureLimit = {
  name: 'sql',
  requests: commonLimits.sqlPerMinutePerKey,
  windowMs: commonLimits.rateWindowMs,
  message: (retryAtS) =>
    `Rate limit exceeded: ${commonLimits.sqlPerMinutePerKey} SQL statements per minute and key. Retry after ${retryAtS}.`,
};

const invalidSql = 'Invalid sql. Send the text of one statement.';
const invalidFormat = `Invalid format. Use: ${Object.keys(sqlFormats).join(', ')}`;
const invalidRows = `Invalid max_rows. Use 1 to ${MAX_ROWS}`;
const bodySchema = jsonBody({
  sql: z
    .string({ error: invalidSql })
    .max(MAX_SQL, `Invalid sql. Max ${MAX_SQL} characters.`)
    .refine((text) => text.trim() !== '', invalidSql)
    .meta({
      description: `One statement: SELECT, SHOW, DESCRIBE, EXPLAIN or EXISTS on the views of docs/SQL.md, without FORMAT. At most ${MAX_SQL} characters.`,
      examples: ['SELECT day, matches, match_usd FROM volume_days ORDER BY day'],
    }),
  format: z
    .enum(Object.keys(sqlFormats) as [SqlFormat, ...SqlFormat[]], { error: invalidFormat })
    .default('json')
    .meta({ description: 'Format of the result. CSV has a line with the names of the columns.' }),
  max_rows: z
    .int({ error: invalidRows })
    .min(1, invalidRows)
    .max(MAX_ROWS, invalidRows)
    .default(DEFAULT_ROWS)
    .meta({ description: 'JSON only: rows that are returned. CSV and Parquet have all rows.' }),
});

const resultSchema = z.object({
  meta: z
    .array(z.object({ name: z.string(), type: z.string() }))
    .meta({ description: 'Names and ClickHouse types of the columns.' }),
  data: z.array(z.array(z.unknown())).meta({
    description: 'Rows, values in the order of `meta`. Decimals and integers of 64 bits or more are strings.',
  }),
  totals: z.array(z.unknown()).optional().meta({ description: 'Row of WITH TOTALS.' }),
  extremes: z
    .object({ min: z.array(z.unknown()), max: z.array(z.unknown()) })
    .optional()
    .meta({ description: 'With SETTINGS extremes = 1.' }),
  rows: z.int().meta({ description: 'Number of rows in `data`.' }),
  rows_before_limit_at_least: z
    .int()
    .optional()
    .meta({ description: 'Rows that there would be without a limit, at least. Present if a limit applied.' }),
  statistics: z.object({
    elapsed: z.number().meta({ description: 'Seconds in the engine.' }),
    rows_read: z.int(),
    bytes_read: z.int(),
  }),
});

/** POST /v1/sql: runs one statement on the public views as the read-only user analyst. */
export function createSqlRoute(deps: {
  queries: AnalystQueries;
  rateLimitStore: RateLimitStore;
  nowMs: () => number;
}): Route {
  const limiter = createConcurrencyLimiter({
    perAccount: commonLimits.sqlAtOncePerAccount,
    total: commonLimits.sqlAtOncePerProcess,
    maxWaitMs: MAX_WAIT_MS,
    message: 'Another SQL statement is still running. Cancel it or retry shortly.',
    accountScope: 'sql_account_concurrency',
    totalScope: 'sql_total_concurrency',
    nowMs: deps.nowMs,
  });
  /** Resolves with the result's bytes; the permit is released when they are sent. */
  const start = (statement: AnalystStatement, signal: AbortSignal) =>
    new Promise<Readable>((resolve, reject) => {
      const work = async () => {
        if (signal.aborted) throw disconnected();
        const stream = await deps.queries.run(statement, signal);
        resolve(stream);
        // Rejects when the client disconnects, which ends the work as well.
        await finished(stream).catch(() => undefined);
      };
      limiter.run(statement.accountId, work).catch(reject);
    });
  return defineRoute({
    method: 'post',
    path: '/v1/sql',
    apiGroup: 'v1',
    tag: 'SQL',
    auth: 'key',
    feature: 'sql',
    jsonOnly: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    summary: 'Run a SQL statement',
    description:
      "Runs one read-only statement on the public views (`docs/SQL.md`) as user `analyst`; `/sql` is a page for it. Errors of the statement return 400 with the engine's text in `error` and its number in `code`. A statement has the limits of user `analyst`: run time, memory, 1,000,000 rows. It ends when the client closes the connection. The schema: `SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase()`.",
    body: bodySchema,
    success: {
      description: 'The result',
      schema: resultSchema,
      example: {
        meta: [
          { name: 'day', type: 'Date' },
          { name: 'match_usd', type: 'Decimal(38, 6)' },
        ],
        data: [['2027-04-12', '340019.04003']],
        rows: 1,
        statistics: { elapsed: 0.0123, rows_read: 1, bytes_read: 18 },
      },
      otherContent: {
        [sqlFormats.csv.contentType]: { schema: z.string(), example: '"day","match_usd"\n"2027-04-12",340019.04003\n' },
        [sqlFormats.parquet.contentType]: {
          schema: z.string().meta({ contentMediaType: sqlFormats.parquet.contentType }),
          example: 'PAR1...',
        },
      },
    },
    async handler({ body }, context) {
      await enforceFeatureLimit(deps.rateLimitStore, PER_MINUTE, context);
      const accountId = context.caller?.accountId ?? '';
      const statement = {
        accountId,
        sql: body.sql,
        format: body.format,
        maxRows: body.format === 'json' ? body.max_rows : null,
      };
      const stream = await start(statement, context.closed());
      return { body: stream, contentType: sqlFormats[body.format].contentType };
    },
  });
}
