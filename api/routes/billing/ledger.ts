import { z } from 'zod';
import type { LedgerView } from '../../../infra/accounts/ledger-view.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { requireSession } from '../auth/sessions.js';
import { meterField } from './packages.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

const entrySchema = z.object({
  seq: z.int().meta({ description: 'From 1, without gaps.' }),
  at: z.int().meta({ description: 'Unix seconds.' }),
  meter: meterField,
  package_id: z.string(),
  kind: z.enum(['granted', 'used', 'expired', 'refunded', 'reinstated']),
  quantity: z.int(),
  balance: z.int().meta({ description: 'Capacity of the meter after this entry: the sum of its entries so far.' }),
});

/** GET /v1/account/ledger: every change of an account's packages and courtesy capacity, newest first. */
export function createLedgerRoute(deps: { ledger: LedgerView }): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/account/ledger',
    apiGroup: 'v1',
    tag: 'Account',
    auth: 'session',
    summary: 'Ledger of packages and courtesy capacity',
    description: 'Newest first. Usage within the allowance of the plan has no entries.',
    query: z.object({
      limit: integerParam({
        description: `Entries of a page; default ${DEFAULT_LIMIT}.`,
        invalid: `Invalid limit. Use a whole number, 1 to ${MAX_LIMIT}.`,
        min: 1,
        max: MAX_LIMIT,
        example: DEFAULT_LIMIT,
      }).default(DEFAULT_LIMIT),
      before: integerParam({
        description: 'Only entries with a smaller `seq`.',
        invalid: 'Invalid before. Use the next_before of a page.',
        min: 1,
        max: 2 ** 31 - 1,
        example: 101,
      }).optional(),
    }),
    success: {
      description: 'A page of entries',
      schema: z.object({
        entries: z.array(entrySchema),
        next_before: z
          .int()
          .nullable()
          .meta({ description: '`before` of the next page; null: this was the last one.' }),
      }),
      example: {
        entries: [
          {
            seq: 2,
            at: 1790121600,
            meter: 'api_requests',
            package_id: '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41',
            kind: 'used',
            quantity: -7_500_000,
            balance: 12_500_000,
          },
        ],
        next_before: 2,
      },
    },
    handler({ query: { limit, before } }, { session }) {
      const entries = deps.ledger.of(requireSession(session).accountId);
      // seq counts from 1 without gaps.
      const end = before === undefined ? entries.length : Math.min(entries.length, before - 1);
      const page = entries.slice(Math.max(0, end - limit), end).reverse();
      return {
        body: {
          entries: page.map((entry) => ({
            seq: entry.seq,
            at: Math.floor(entry.at_ms / 1000),
            meter: entry.meter,
            package_id: entry.grant_id,
            kind: entry.kind,
            quantity: entry.quantity,
            balance: entry.balance,
          })),
          next_before: end > limit ? (page.at(-1)?.seq ?? null) : null,
        },
      };
    },
  });
}
