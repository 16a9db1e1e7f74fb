import { z } from 'zod';
import {
  type CoverageKind,
  coverageKinds,
  coverageStates,
  MAX_BLOCK_GAP_S,
  MAX_TICK_GAP_S,
} from '../../../schemas/coverage/sources.js';
import { badParameter } from '../../errors/failure.js';
import type { ParamDoc } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { isoFrom } from '../../tables/values.js';
import { type CoverageRow, coverageRowsSql } from './coverage.sql.js';

const CACHE_S = 15;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const MAX_DAYS = 31;
/** Limit of days for a query of one source. */
const MAX_DAYS_OF_SOURCE = 366;
/** Kinds that have several sources. */
const MULTI_SOURCE_KINDS: readonly string[] = ['contract', 'oracle'] satisfies CoverageKind[];
/** Upper bound on the rows of a response: all days of all contracts and feeds. */
const MAX_ROWS = 5_000;
const MAX_SOURCE = 100;

const count = z.int().nullable();

const entrySchema = z.object({
  source: z.string(),
  kind: z.enum(coverageKinds),
  address: z.string().nullable().meta({ description: 'Address of a contract.' }),
  exchange_version: count.meta({ description: '1, 2 or 3 for the contract of an exchange.' }),
  day: z.string().meta({ description: 'UTC day.' }),
  state: z.enum(coverageStates).meta({
    description:
      '`available`: the day is complete. `degraded`: part of the day is missing. `pending`: the day has not ended, or is not loaded yet. `missing`: no data.',
  }),
  why: z.string().meta({ description: 'Reason for the state, one sentence.' }),
  records: z.int().meta({
    description:
      'Number of log records: blocks, contract events, or feed ticks; for the catalogue, markets last changed on that day.',
  }),
  logs: count.meta({ description: 'Logs of the contract that the node reported.' }),
  undecoded_logs: count.meta({ description: 'Part of `logs` that could not be decoded.' }),
  first_block: count.meta({ description: 'First block of the day with a record.' }),
  last_block: count.meta({ description: 'Last block of the day with a record.' }),
  first_at: z.string().nullable().meta({ description: 'Time of the first record.' }),
  last_at: z.string().nullable().meta({ description: 'Time of the last record.' }),
  last_change: z.string().nullable().meta({
    description: 'Time of the newest record of the day: reception time for feeds, block time for blocks.',
  }),
  gaps: count.meta({
    description: 'Number of gaps over the limit. null for sources without that check and for days that are not over.',
  }),
  longest_gap_seconds: count.meta({ description: 'Longest time without a record between midnight and midnight.' }),
});

const integerOrNull = (text: string | null): number | null => (text === null ? null : Number(text));

/** Serializes a coverage row. */
function coverageEntry(row: CoverageRow): z.input<typeof entrySchema> {
  return {
    source: row.source,
    kind: row.kind,
    address: row.address,
    exchange_version: row.exchange_version,
    day: row.day,
    state: row.state,
    why: row.why,
    records: Number(row.records),
    logs: integerOrNull(row.logs),
    undecoded_logs: integerOrNull(row.undecoded_logs),
    first_block: integerOrNull(row.first_block),
    last_block: integerOrNull(row.last_block),
    first_at: isoFrom(row.first_ms),
    last_at: isoFrom(row.last_ms),
    last_change: isoFrom(row.change_ms),
    gaps: integerOrNull(row.gaps),
    longest_gap_seconds: integerOrNull(row.longest_gap_s),
  };
}

/** A day of the recorded input. */
const RECORDED_DAY = '2026-03-20';
const DATE = /^20\d\d-\d\d-\d\d$/;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A day from 2000 to 2099. */
const dayParam = (name: 'from' | 'to', { description, example }: ParamDoc) =>
  z
    .string()
    .refine(
      (text) => DATE.test(text) && dayOf(Date.parse(`${text}T00:00:00Z`) || 0) === text,
      `Invalid ${name}. Use a UTC day, YYYY-MM-DD`,
    )
    .meta({ description, format: 'date', ...(example === undefined ? {} : { example }) });

/** GET /v1/coverage: state of the data per source and UTC day. */
export function createCoverageRoute({ tables, cache }: Readers): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/coverage',
    reads: ['chain', 'oracle', 'catalog'],
    apiGroup: 'v1',
    tag: 'Service',
    auth: 'key',
    cacheS: CACHE_S,
    summary: 'Data coverage per source and day',
    description: `States per source and UTC day whether the data is complete, and the reason if not; computed from the log. Sources: final blocks, each watched contract, each price feed, the catalogue, the order book. A day is \`degraded\` if there was no block with a log of a watched contract for over ${MAX_BLOCK_GAP_S} seconds, if a feed had no tick for over ${MAX_TICK_GAP_S} seconds, or if a log could not be decoded. A contract without logs is \`available\` if the blocks of the day have no gap. Newest day first; at most ${MAX_DAYS} days per request, or ${MAX_DAYS_OF_SOURCE} days of one \`source\`.`,
    query: z.object({
      source: z
        .string()
        .min(1, 'Invalid source')
        .max(MAX_SOURCE, 'Invalid source')
        .refine((text) => !/\p{Cc}/u.test(text), 'Invalid source')
        .meta({
          description: `Only this source, or this kind of source: ${coverageKinds.join(', ')}.`,
          example: 'contract:exchange_v2',
        })
        .optional(),
      from: dayParam('from', {
        // No example: any fixed day is too far from the default of `to` at some time.
        description: `First UTC day, not after \`to\`. Default: ${DEFAULT_DAYS - 1} days before \`to\`.`,
      }).optional(),
      to: dayParam('to', {
        description: 'Last UTC day, inclusive. Default: today.',
        example: RECORDED_DAY,
      }).optional(),
    }),
    success: {
      description: 'Coverage',
      schema: z.object({ from: z.string(), to: z.string(), count: z.int(), coverage: z.array(entrySchema) }),
      example: {
        from: '2027-04-12',
        to: '2027-04-12',
        count: 1,
        coverage: [
          {
            source: 'contract:exchange_v2',
            kind: 'contract',
            address: '0xe111180000d2663c0091e4f400237545b87b996b',
            exchange_version: 2,
            day: '2027-04-12',
            state: 'available',
            why: 'Indexed without a gap from block 90956800 to 90999999.',
            records: 412300,
            logs: 618450,
            undecoded_logs: 0,
            first_block: 90956800,
            last_block: 90999998,
            first_at: '2027-04-12T00:00:00Z',
            last_at: '2027-04-12T23:59:56Z',
            last_change: '2027-04-12T23:59:56Z',
            gaps: null,
            longest_gap_seconds: null,
          },
        ],
      },
    },
    async handler({ query }, context) {
      const to = query.to ?? dayOf(context.nowMs);
      const toMs = Date.parse(`${to}T00:00:00Z`);
      const from = query.from ?? dayOf(toMs - (DEFAULT_DAYS - 1) * DAY_MS);
      const days = Math.round((toMs - Date.parse(`${from}T00:00:00Z`)) / DAY_MS) + 1;
      const most =
        query.source === undefined || MULTI_SOURCE_KINDS.includes(query.source) ? MAX_DAYS : MAX_DAYS_OF_SOURCE;
      if (days < 1) throw badParameter('Invalid range: from is after to');
      if (days > most) throw badParameter(`Range exceeds ${most} days`);
      const { source = '' } = query;
      const cached = await cache.get(`coverage:${from}:${to}:${source}`, CACHE_S * 1000, () =>
        tables.rows<CoverageRow>(coverageRowsSql({ from, to, source, limit: MAX_ROWS })),
      );
      const coverage = cached.value.map(coverageEntry);
      return { body: { from, to, count: coverage.length, coverage }, cache: cached };
    },
  });
}
