import type { Tables } from '../tables/port.js';
import { boolFrom, type SqlBool } from '../tables/values.js';
import { type ConditionRow, conditionsSql, type ResolutionRow, resolutionsSql } from './conditions.sql.js';
import { createHeldLookup, type Lookup } from './held-lookup.js';

/** How a condition was settled. */
export interface Resolution {
  /** Payout numerators in outcome order. */
  readonly payouts: readonly bigint[];
  /** Their sum; a share of outcome i pays payouts[i] / denominator. */
  readonly denominator: bigint;
  /** The one outcome that pays; null when several do. */
  readonly winner: number | null;
  readonly resolvedAtS: number;
}

/** What the catalogue and the chain know of a condition; empty lists and nulls where they know nothing. */
export interface Condition {
  /** False: not in the catalogue. */
  readonly known: boolean;
  readonly question: string | null;
  readonly slug: string | null;
  readonly image: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  readonly negRisk: boolean;
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  readonly resolution: Resolution | null;
}

/** The settlement of a condition by its payout numerators. */
export function resolutionOf(row: Pick<ResolutionRow, 'payouts' | 'resolved_at'>): Resolution {
  const payouts = row.payouts.map(BigInt);
  const paying = payouts.flatMap((payout, index) => (payout > 0n ? [index] : []));
  return {
    payouts,
    denominator: payouts.reduce((sum, payout) => sum + payout, 0n),
    winner: paying.length === 1 ? (paying[0] as number) : null,
    resolvedAtS: Number(row.resolved_at),
  };
}

const blank: Condition = {
  known: false,
  question: null,
  slug: null,
  image: null,
  eventSlug: null,
  eventTitle: null,
  negRisk: false,
  outcomes: [],
  tokenIds: [],
  resolution: null,
};

async function readConditions(tables: Tables, ids: readonly string[]): Promise<ReadonlyMap<string, Condition>> {
  const [markets, resolutions] = await Promise.all([
    tables.rows<ConditionRow>(conditionsSql(ids)),
    tables.rows<ResolutionRow>(resolutionsSql(ids)),
  ]);
  const found = new Map<string, Condition>();
  for (const row of markets) {
    found.set(row.condition_id, {
      ...blank,
      known: true,
      question: row.question,
      slug: row.slug,
      image: row.image,
      eventSlug: row.event_slug,
      eventTitle: row.event_title,
      negRisk: boolFrom(row.neg_risk as SqlBool),
      outcomes: row.outcomes,
      tokenIds: row.tokens,
    });
  }
  for (const row of resolutions) {
    found.set(row.condition_id, { ...(found.get(row.condition_id) ?? blank), resolution: resolutionOf(row) });
  }
  return found;
}

/** Conditions by id, each at most 30 s old. */
export const createConditionLookup = (deps: { tables: Tables; nowMs: () => number }): Lookup<Condition> =>
  createHeldLookup({ read: (ids) => readConditions(deps.tables, ids), unknown: blank, nowMs: deps.nowMs });
