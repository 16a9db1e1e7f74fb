import { z } from 'zod';
import { type MeterCapacity, meterCapacity } from '../../../infra/accounts/capacity-view.js';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import { accountMeters, usagePackages } from '../../../schemas/packages.js';
import { type ServicePeriod, servicePeriod } from '../../../schemas/service-period.js';
import type { AccountMeter } from '../../../schemas/types.gen.js';
import { ApiError } from '../../errors/failure.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Sql, Tables } from '../../tables/port.js';
import { requireSession } from '../auth/sessions.js';

const DAY_MS = 86_400_000;

const meterSchema = z.object({
  meter: z.enum(accountMeters),
  used: z.int().meta({ description: 'Number of requests, or bytes of encoded socket frames.' }),
  included: z.int().nullable().meta({ description: 'Allowance of the plan; null: unlimited.' }),
  packages_remaining: z.int().meta({ description: 'Unused part of the packages, after usage beyond the allowance.' }),
  courtesy_remaining: z.int().meta({ description: 'Unused part of the courtesy capacity, used after the packages.' }),
  unlimited: z.boolean(),
  avg_per_day: z.int(),
  projected: z.int().meta({ description: 'Projection for the whole period at the rate so far.' }),
  packages_needed: z.int().meta({
    description: 'Further packages that the projection needs beyond allowance, packages and courtesy capacity.',
  }),
});

const usageSchema = z.object({
  period: z.object({ start: z.int(), end: z.int() }).meta({ description: 'Unix seconds; the end is exclusive.' }),
  plan: z.enum(['free', 'starter', 'growth', 'enterprise']),
  enforcement: z.boolean().meta({
    description: 'Whether requests and sockets beyond the allowance, packages and courtesy capacity are rejected.',
  }),
  meters: z.array(meterSchema),
});

interface UsageRow {
  readonly meter: string;
  readonly used: string;
}

/** Meter rows hold growing totals: the maximum per id counts. */
function usageSql(accountId: string, { startMs, endMs }: ServicePeriod): Sql {
  return {
    text: `SELECT meter, toString(sum(quantity)) AS used
      FROM usage FINAL
      WHERE account_id = {account:String} AND hour >= toDateTime({start:UInt32}, 'UTC') AND hour < toDateTime({end:UInt32}, 'UTC')
      GROUP BY meter`,
    params: { account: accountId, start: startMs / 1000, end: endMs / 1000 },
  };
}

/** What is left of the grants once usage that is not settled yet is charged to them. */
function remainingNow({ included, charged, packages, courtesy }: MeterCapacity, used: number) {
  const unsettled = included === null ? 0 : Math.max(0, used - included - charged);
  return {
    packages_remaining: Math.max(0, packages - unsettled),
    courtesy_remaining: Math.max(0, courtesy - Math.max(0, unsettled - packages)),
  };
}

/** Packages that are missing if the period ends with `projected`. */
function packagesNeeded(capacity: MeterCapacity, meter: AccountMeter, projected: number): number {
  const { included, charged, packages, courtesy } = capacity;
  if (included === null) return 0;
  const missing = projected - included - charged - packages - courtesy;
  return Math.max(0, Math.ceil(missing / usagePackages.quantity[meter]));
}

/** GET /v1/account/usage: usage of the signed-in account in its service month. */
export function createUsageRoute(deps: {
  enforcement: boolean;
  tables: Tables;
  accounts: Pick<AccountsReadModel, 'account' | 'capacity'>;
}): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/account/usage',
    apiGroup: 'v1',
    tag: 'Account',
    auth: 'session',
    summary: 'Usage of the current service month, per meter',
    description:
      'Counts all keys and sockets of the account, with a delay of a few seconds. The service month begins on the day of the month on which the account was created.',
    success: {
      description: 'Usage and allowance per meter',
      schema: usageSchema,
      example: {
        period: { start: 1790035200, end: 1792627200 },
        plan: 'starter',
        enforcement: false,
        meters: [
          {
            meter: 'onchain_event_bytes',
            used: 1_200_000_000,
            included: 250_000_000_000,
            packages_remaining: 0,
            courtesy_remaining: 0,
            unlimited: false,
            avg_per_day: 400_000_000,
            projected: 12_000_000_000,
            packages_needed: 0,
          },
        ],
      },
    },
    async handler(_input, { session, nowMs }) {
      const account = deps.accounts.account(requireSession(session).accountId);
      if (account === undefined) throw new ApiError({ kind: 'no_session' });
      const period = servicePeriod(account.created_at_ms, nowMs);
      const rows = await deps.tables.rows<UsageRow>(usageSql(account.account_id, period));
      const usedOf = new Map(rows.map((row) => [row.meter, Number(row.used)]));
      const elapsedDays = Math.max(1, (nowMs - period.startMs) / DAY_MS);
      const periodDays = (period.endMs - period.startMs) / DAY_MS;
      return {
        body: {
          period: { start: period.startMs / 1000, end: period.endMs / 1000 },
          plan: account.plan,
          enforcement: deps.enforcement,
          meters: accountMeters.map((meter) => {
            const used = usedOf.get(meter) ?? 0;
            const capacity = meterCapacity(deps.accounts.capacity, account, meter, nowMs);
            const { included } = capacity;
            const projected = Math.round((used / elapsedDays) * periodDays);
            return {
              meter,
              used,
              included,
              ...remainingNow(capacity, used),
              unlimited: included === null,
              avg_per_day: Math.round(used / elapsedDays),
              projected,
              packages_needed: packagesNeeded(capacity, meter, projected),
            };
          }),
        },
      };
    },
  });
}
