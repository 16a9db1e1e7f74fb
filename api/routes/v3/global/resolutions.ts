import { z } from 'zod';
import { createCachedLookup, readRows } from '../../../catalog/cached-lookup.js';
import { resolutionOf } from '../../../catalog/resolution.js';
import { toPage } from '../../../fills/read-page.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { logPositionCursor } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import type { Readers } from '../../../readers.js';
import { type PreparedRow, preparedSql, type ResolutionRow, resolutionsPageSql } from '../../../volumes/volumes.sql.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';

const resolutionSchema = z.object({
  condition_id: z.string(),
  payout_numerators: z.array(z.string()),
  payout_denominator: z.string(),
  resolved_at: z.string().meta({ description: 'Unix milliseconds, as text.' }),
  created_at: z
    .string()
    .nullable()
    .meta({ description: 'When the condition was prepared, Unix milliseconds, as text.' }),
  question: z.string().nullable(),
  slug: z.string().nullable(),
  outcomes: z.array(z.string()).nullable(),
  category: z.string().nullable(),
});

/** GET /v3/resolutions: every resolved condition, newest first. */
export function createResolutionsRoute({ tables, metadata, nowMs }: Readers): Route {
  const createdAtOf = createCachedLookup<string | null>({
    read: readRows(
      tables,
      preparedSql,
      (row: PreparedRow) => row.condition_id,
      ({ at }) => `${at}000`,
    ),
    unknown: null,
    nowMs,
  });
  return defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/resolutions',
    reads: ['chain', 'catalog'],
    summary: 'Resolved conditions, newest first',
    query: z.object(paging),
    success: {
      description: 'A page of resolutions',
      schema: z.object({ data: z.array(resolutionSchema), ...pageFields }),
      example: {
        data: [
          {
            condition_id: `0x${'c1'.repeat(32)}`,
            payout_numerators: ['0', '1'],
            payout_denominator: '1',
            resolved_at: '1790000000000',
            created_at: '1789000000000',
            question: 'Rivers vs. Lakes',
            slug: 'rvl-2026-10-02',
            outcomes: ['Rivers', 'Lakes'],
            category: null,
          },
        ],
        ...examplePaging,
      },
    },
    async handler({ query }, context) {
      const order = { order: 'desc', limit: query.limit, offset: query.offset } as const;
      const page = await cursorPage(logPositionCursor, context, query, async (beyond) =>
        toPage(await tables.rows<ResolutionRow>(resolutionsPageSql(order, beyond)), query.limit),
      );
      const ids = page.rows.map((row) => row.condition_id);
      const [markets, createdAt] = await Promise.all([metadata.marketsOf(ids), createdAtOf(ids)]);
      return {
        body: {
          data: page.rows.map((row) => {
            const market = markets.get(row.condition_id) ?? null;
            const { denominator } = resolutionOf({ payouts: row.payouts, resolved_at: row.timestamp });
            return {
              condition_id: row.condition_id,
              payout_numerators: [...row.payouts],
              payout_denominator: denominator.toString(),
              resolved_at: `${row.timestamp}000`,
              created_at: createdAt.get(row.condition_id) ?? null,
              question: market?.question ?? null,
              slug: market?.slug ?? null,
              outcomes: market === null ? null : [...market.outcomes],
              category: null,
            };
          }),
          ...pagingOf(query, page, context),
        },
      };
    },
  });
}
