import { z } from 'zod';
import { coverageKinds, coverageStates } from '../../../schemas/coverage/sources.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { type CoverageDayRow, coverageDaysSql } from './coverage.sql.js';

const CACHE_S = 60;
const MAX_DAYS = 400;

const daySchema = z.object({
  day: z.string().meta({ description: 'UTC day.' }),
  kind: z.enum(coverageKinds),
  state: z.enum(coverageStates).meta({
    description: 'The worst state of the sources of this kind; `degraded` if only some of them are missing.',
  }),
  sources: z.int().meta({ description: 'Sources of this kind.' }),
  available: z.int().meta({ description: 'Of these, sources with the complete day.' }),
  why: z.string().meta({ description: 'Reason for the state, of one of the sources in it.' }),
});

/** GET /v1/coverage/days: `/v1/coverage` summed up per kind of source, without a key. It has no parameters: one cached result serves all requests. */
export function createCoverageDaysRoute({ tables, cache }: Readers): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/coverage/days',
    reads: ['chain', 'oracle', 'catalog'],
    respondsWhileEmpty: true,
    apiGroup: 'v1',
    tag: 'Service',
    auth: 'none',
    cacheS: CACHE_S,
    summary: 'Data coverage per kind of source and day, without a key',
    description: `\`/v1/coverage\` summed up per kind of source, newest day first, of the last ${MAX_DAYS} days. A day that is missing altogether is not listed.`,
    success: {
      description: 'Coverage',
      schema: z.object({
        from: z.string().nullable().meta({ description: 'First listed day; null without data.' }),
        count: z.int(),
        days: z.array(daySchema),
      }),
      example: {
        from: '2027-04-12',
        count: 1,
        days: [
          {
            day: '2027-04-12',
            kind: 'blocks',
            state: 'available',
            sources: 1,
            available: 1,
            why: 'Indexed without a gap from block 90956800 to 90999999.',
          },
        ],
      },
    },
    async handler() {
      const cached = await cache.get('coverage-days', CACHE_S * 1000, () =>
        tables.rows<CoverageDayRow>(coverageDaysSql({ days: MAX_DAYS })),
      );
      const days = cached.value.map((row) => ({
        ...row,
        sources: Number(row.sources),
        available: Number(row.available),
      }));
      const body = { from: days.at(-1)?.day ?? null, count: days.length, days };
      return { body, cache: cached };
    },
  });
}
