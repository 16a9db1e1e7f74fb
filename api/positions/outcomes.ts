import { createHeldLookup, type Lookup } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import {
  type OutcomeMarketRow,
  type OutcomeRow,
  outcomeMarketsSql,
  outcomesSql,
  type StatusRow,
  statusesSql,
  type TokenScope,
} from './outcomes.sql.js';

/** What a position is about; nulls and empty lists where neither catalogue nor chain knows. */
export interface Outcome {
  readonly conditionId: string | null;
  readonly market: string | null;
  readonly slug: string | null;
  readonly image: string | null;
  readonly icon: string | null;
  readonly eventSlug: string | null;
  readonly outcome: string | null;
  readonly outcomeIndex: number | null;
  /** Names and tokens of all outcomes of the market. */
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly endMs: number | null;
  /** null: not in the catalogue. */
  readonly tagSlugs: readonly string[] | null;
  readonly status: 'live' | 'closed' | 'resolved';
  readonly resolvedAtS: number | null;
  /** The one outcome that pays; null while open and where several do. */
  readonly winner: number | null;
}

export const unknownOutcome: Outcome = {
  conditionId: null,
  market: null,
  slug: null,
  image: null,
  icon: null,
  eventSlug: null,
  outcome: null,
  outcomeIndex: null,
  outcomes: [],
  tokenIds: [],
  negRisk: false,
  endMs: null,
  tagSlugs: null,
  status: 'live',
  resolvedAtS: null,
  winner: null,
};

function winnerOf(row: StatusRow | undefined): number | null {
  const paying = (row?.payouts ?? []).flatMap((payout, index) => (BigInt(payout) > 0n ? [index] : []));
  return paying.length === 1 ? (paying[0] as number) : null;
}

/** What the tokens of a scope are about. */
export async function readOutcomes(tables: Tables, scope: TokenScope): Promise<ReadonlyMap<string, Outcome>> {
  const [tokens, marketRows, statusRows] = await Promise.all([
    tables.rows<OutcomeRow>(outcomesSql(scope)),
    tables.rows<OutcomeMarketRow>(outcomeMarketsSql(scope)),
    tables.rows<StatusRow>(statusesSql(scope)),
  ]);
  const markets = new Map(marketRows.map((row) => [row.condition_id, row]));
  const statuses = new Map(statusRows.map((row) => [row.condition_id, row]));
  return new Map(
    tokens.map((token): [string, Outcome] => {
      const market = markets.get(token.condition_id);
      const status = statuses.get(token.condition_id);
      return [
        token.token,
        {
          conditionId: token.condition_id,
          market: market?.question ?? null,
          slug: market?.slug ?? null,
          image: market?.image ?? null,
          icon: market?.icon ?? null,
          eventSlug: market?.event_slug ?? null,
          outcome: token.outcome === '' ? null : token.outcome,
          outcomeIndex: Number(token.outcome_index),
          outcomes: market?.outcomes ?? [],
          tokenIds: market?.tokens ?? [],
          negRisk: market !== undefined && boolFrom(market.neg_risk),
          endMs: market === undefined || market.end_ms === null ? null : Number(market.end_ms),
          tagSlugs: market?.tag_slugs ?? null,
          status: status?.status ?? 'live',
          resolvedAtS: status === undefined || status.resolved_at === null ? null : Number(status.resolved_at),
          winner: winnerOf(status),
        },
      ];
    }),
  );
}

/** What positions are about, by token; each at most 30 s old. */
export const createOutcomeLookup = (deps: { tables: Tables; nowMs: () => number }): Lookup<Outcome> =>
  createHeldLookup({
    read: (ids) => readOutcomes(deps.tables, { tokens: ids }),
    unknown: unknownOutcome,
    nowMs: deps.nowMs,
  });
