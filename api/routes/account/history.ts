import { z } from 'zod';
import type { Meter } from '../../../schemas/types.gen.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Sql, Tables } from '../../tables/port.js';
import { requireSession } from '../auth/sessions.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const meters = ['api_requests', 'orderbook_chainlink_bytes', 'onchain_event_bytes'] as const satisfies readonly Meter[];
type MeterName = (typeof meters)[number];

const quantity = z.int().nonnegative();
const daySchema = z.object({
  day: z.string().meta({ description: 'UTC day, YYYY-MM-DD.' }),
  api_requests: quantity,
  orderbook_chainlink_bytes: quantity,
  onchain_event_bytes: quantity,
});

interface DayRow {
  readonly day: string;
  readonly meter: MeterName;
  readonly used: string;
}

/** Meter rows hold growing totals: the maximum per id counts. */
const historySql = (accountId: string, fromMs: number): Sql => ({
  text: `SELECT toString(toDate(hour)) AS day, meter, toString(sum(quantity)) AS used
    FROM usage FINAL
    WHERE account_id = {account:String} AND hour >= toDateTime({from:UInt32}, 'UTC')
    GROUP BY day, meter`,
  params: { account: accountId, from: fromMs / 1000 },
});

/** GET /v1/account/usage/history: usage per UTC day and meter, days without usage included. */
export function createUsageHistoryRoute(deps: { tables: Tables }): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/account/usage/history',
    apiGroup: 'v1',
    tag: 'Account',
    auth: 'session',
    summary: 'Usage per day and meter',
    description: 'UTC days, oldest first, the running one included, with a delay of a few seconds.',
    query: z.object({
      days: integerParam({
        description: `UTC days; default ${DEFAULT_DAYS}.`,
        invalid: `Invalid days. Use a whole number, 1 to ${MAX_DAYS}.`,
        min: 1,
        max: MAX_DAYS,
        example: DEFAULT_DAYS,
      }).default(DEFAULT_DAYS),
    }),
    success: {
      description: 'The days',
      schema: z.object({ days: z.array(daySchema) }),
      example: {
        days: [
          {
            day: '2026-09-22',
            api_requests: 12_400,
            orderbook_chainlink_bytes: 80_000_000,
            onchain_event_bytes: 1_200_000_000,
          },
        ],
      },
    },
    async handler({ query: { days } }, context) {
      const { accountId } = requireSession(context.session);
      const today = Math.floor(context.nowMs / DAY_MS) * DAY_MS;
      const fromMs = today - (days - 1) * DAY_MS;
      const rows = await deps.tables.rows<DayRow>(historySql(accountId, fromMs));
      const used = new Map(rows.map((row) => [`${row.day} ${row.meter}`, Number(row.used)]));
      const of = (day: string, meter: MeterName) => used.get(`${day} ${meter}`) ?? 0;
      return {
        body: {
          days: Array.from({ length: days }, (_, index) => {
            const day = new Date(fromMs + index * DAY_MS).toISOString().slice(0, 10);
            return {
              day,
              api_requests: of(day, 'api_requests'),
              orderbook_chainlink_bytes: of(day, 'orderbook_chainlink_bytes'),
              onchain_event_bytes: of(day, 'onchain_event_bytes'),
            };
          }),
        },
      };
    },
  });
}
