import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import {
  type ChildRow,
  childrenSql,
  type NegRiskEventRow,
  negRiskEventsSql,
  negRiskIdsSql,
  type RankedEvent,
} from '../../catalog/neg-risk.sql.js';
import { defineRoute, type Route } from '../../http/route.js';
import { cursorText } from '../../pagination/cursor.js';
import { rankedPage } from '../../pagination/ranked-page.js';
import type { Readers } from '../../readers.js';
import { boolFrom, type Millis } from '../../tables/values.js';
import { clob, common } from './params.js';
import { isoTime, paginationOf, paginationSchema, SOURCE } from './serialize.js';

const RANKING_MS = 30_000;
/** Upper bound on the children of one page of events. */
const MAX_CHILDREN = 100_000;
const text = z.string().nullable();
const endDate = (ms: Millis): string | null => (ms === null ? null : isoTime(Math.floor(Number(ms) / 1000)));

const eventSchema = z.object({
  id: z.string(),
  event_title: z.string(),
  event_slug: z.string(),
  question_count: z.int(),
  child_market_count: z.int(),
  image: text,
  end_date: text,
  outcomes: z.array(z.string()).meta({ description: 'In the order of child_condition_ids.' }),
  child_condition_ids: z.array(z.string()),
});
const childSchema = z.object({
  parent_id: z.string(),
  child_condition_id: z.string(),
  outcome_title: text,
  question: z.string(),
  slug: z.string(),
  event_title: text,
  event_slug: text,
  active: z.boolean(),
  closed: z.boolean(),
  end_date: text,
  volume_all_time: text.meta({ description: 'USDC, decimal text; both exchange generations.' }),
  image: text,
});
const VOLUME_PLACES = 6;

/** All children share title, slug, image and end of their event; of an event that the catalogue lacks, each has its own. */
const childFrom = (row: ChildRow, event: NegRiskEventRow | undefined): z.input<typeof childSchema> => ({
  parent_id: row.parent,
  child_condition_id: row.condition_id,
  outcome_title: row.outcome_title,
  question: row.question,
  slug: row.slug,
  event_title: event?.title ?? row.event_title,
  event_slug: event?.slug ?? row.event_slug,
  active: boolFrom(row.active),
  closed: boolFrom(row.closed),
  end_date: endDate(event === undefined ? row.end_ms : event.end_ms),
  volume_all_time: row.volume.toFixed(VOLUME_PLACES),
  image: event === undefined ? row.image : event.image,
});

const EXAMPLE_PARENT = `0x${'ab'.repeat(32)}`;

/** GET multi-outcome (neg-risk) events and their markets. */
export function createNegRiskRoutes({ tables, cache }: Readers): readonly Route[] {
  const events = defineRoute({
    ...common,
    path: '/clobv2/neg-risk/events',
    reads: ['chain', 'catalog'],
    summary: 'Multi-outcome events, most questions first',
    description: 'Events without a title are omitted. Lists the first 10,000.',
    query: z.object({
      limit: clob.limit(500, 50),
      offset: clob.offset,
      cursor: cursorText('`pagination.next_cursor` of the previous page.'),
    }),
    success: {
      description: 'A page of events',
      schema: z.object({
        count: z.int(),
        source: z.literal(SOURCE),
        pagination: paginationSchema,
        events: z.array(eventSchema),
      }),
      example: {
        count: 1,
        source: SOURCE,
        pagination: paginationOf({ limit: 50, offset: 0 }, null),
        events: [
          {
            id: EXAMPLE_PARENT,
            event_title: 'Lisbon mayor',
            event_slug: 'lisbon-mayor',
            question_count: 2,
            child_market_count: 2,
            image: null,
            end_date: '2027-09-30T00:00:00+00:00',
            outcomes: ['A. Alves', 'B. Brito'],
            child_condition_ids: [`0x${'c1'.repeat(32)}`, `0x${'c2'.repeat(32)}`],
          },
        ],
      },
    },
    async handler({ query }, context) {
      const { value: list } = await cache.get('clobv2 neg-risk', RANKING_MS, () =>
        tables.rows<RankedEvent>(negRiskIdsSql()),
      );
      const by = { value: (row: RankedEvent) => Number(row.questions), id: (row: RankedEvent) => row.id };
      const page = rankedPage(list, by, query, context);
      const ids = page.rows.map((row) => row.id);
      const [rows, children] =
        ids.length === 0
          ? [[], []]
          : await Promise.all([
              tables.rows<NegRiskEventRow>(negRiskEventsSql(ids)),
              tables.rows<ChildRow>(childrenSql(ids, MAX_CHILDREN)),
            ]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const found = ids.flatMap((id) => {
        const row = byId.get(id);
        if (row === undefined) return [];
        const childrenOfEvent = children.filter((child) => child.parent === id);
        return {
          id,
          event_title: row.title,
          event_slug: row.slug,
          question_count: Number(row.questions),
          child_market_count: childrenOfEvent.length,
          image: row.image,
          end_date: endDate(row.end_ms),
          outcomes: childrenOfEvent.map((child) => child.outcome_title ?? child.question),
          child_condition_ids: childrenOfEvent.map((child) => child.condition_id),
        };
      });
      return {
        body: {
          count: found.length,
          source: SOURCE,
          pagination: paginationOf(query, page.cursor),
          events: found,
        },
      };
    },
  });

  const maxChildren = commonLimits.negRiskChildrenMaxLimit;
  const children = defineRoute({
    ...common,
    path: '/clobv2/neg-risk/events/{parent_id}/children',
    reads: ['chain', 'catalog'],
    summary: 'Markets of a multi-outcome event, largest volume first',
    params: z.object({ parent_id: clob.parentId }),
    query: z.object({ limit: clob.limit(maxChildren, 200) }),
    success: {
      description: 'The markets; none for an unknown event',
      schema: z.object({
        parent_id: z.string(),
        source: z.literal(SOURCE),
        count: z.int(),
        children: z.array(childSchema),
      }),
      example: {
        parent_id: EXAMPLE_PARENT,
        source: SOURCE,
        count: 1,
        children: [
          {
            parent_id: EXAMPLE_PARENT,
            child_condition_id: `0x${'c1'.repeat(32)}`,
            outcome_title: 'A. Alves',
            question: 'Will A. Alves become mayor of Lisbon?',
            slug: 'lisbon-mayor-alves',
            event_title: 'Lisbon mayor',
            event_slug: 'lisbon-mayor',
            active: true,
            closed: false,
            end_date: '2027-09-30T00:00:00+00:00',
            volume_all_time: '5120.250000',
            image: null,
          },
        ],
      },
    },
    async handler({ params: { parent_id }, query }) {
      const [rows, [event]] = await Promise.all([
        tables.rows<ChildRow>(childrenSql([parent_id], query.limit)),
        tables.rows<NegRiskEventRow>(negRiskEventsSql([parent_id])),
      ]);
      const children = rows.map((row) => childFrom(row, event));
      return { body: { parent_id, source: SOURCE, count: rows.length, children } };
    },
  });

  return [events, children];
}
