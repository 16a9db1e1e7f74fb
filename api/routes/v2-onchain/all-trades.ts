import { z } from 'zod';
import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import type { Plan } from '../../../schemas/types.gen.js';
import { ApiError, badParameter } from '../../errors/failure.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, clampToDateTimeSeconds, type FillFilter } from '../../fills/filter.js';
import type { LogPosition } from '../../fills/log-position.js';
import { priceDocs, sideDocs } from '../../http/field-docs.js';
import { defineRoute, type RequestContext, type Route } from '../../http/route.js';
import { createConcurrencyLimiter } from '../../limits/concurrency-limiter.js';
import type { Readers } from '../../readers.js';
import { exampleFill } from '../v3/trades/examples.js';
import { common as onchain, v2 } from './params.js';
import { direction } from './serialize.js';

const CACHE_S = 300;
const HARD_CAP = 250_000;
const WALL_CLOCK_MS = 180_000;
const CHUNK = 10_000;
const plansWithAll: ReadonlySet<Plan> = new Set<Plan>(['growth', 'enterprise']);
const reasons = ['hard_cap_250000', 'wall_clock_180s'] as const;

const tradeSchema = z.object({
  tx_hash: z.string(),
  order_hash: z.string(),
  timestamp: z.int(),
  maker: z.string(),
  taker: z.string(),
  token_id: z.string(),
  direction: direction.describe(sideDocs.maker),
  price: z.number().describe(priceDocs.fill),
  shares: z.number(),
  usd: z.number(),
  fee: z.number(),
});
const tradeFrom = (row: FillRow): z.input<typeof tradeSchema> => ({
  tx_hash: row.tx_hash,
  order_hash: row.order_hash,
  timestamp: Number(row.timestamp),
  maker: row.maker,
  taker: row.taker,
  token_id: row.token_id,
  direction: row.side,
  price: priceNumber(BigInt(row.usdc), BigInt(row.shares)) ?? 0,
  shares: moneyToNumber(BigInt(row.shares)),
  usd: moneyToNumber(BigInt(row.usdc)),
  fee: moneyToNumber(BigInt(row.fee)),
});

interface Collected {
  readonly toS: number;
  readonly reason: (typeof reasons)[number] | null;
  readonly fetchedMs: number;
  readonly trades: readonly z.input<typeof tradeSchema>[];
}

const commonFields = {
  from_ts: z.int(),
  to_ts: z.int(),
  count: z.int(),
  partial: z.boolean(),
  partial_reason: z.enum(reasons).nullable(),
  fetched_in_ms: z.int(),
  cache: z.enum(['hit', 'miss']),
  trades: z.array(tradeSchema),
};
const exampleCommonFields = {
  from_ts: 1790000000,
  to_ts: 1790100000,
  count: 1,
  partial: false,
  partial_reason: null,
  fetched_in_ms: 120,
  cache: 'miss' as const,
  trades: [tradeFrom(exampleFill)],
};

const query = z.object({
  from: v2.time('from', 'Start of the range, Unix seconds. Default: the first fill.').optional(),
  to: v2.time('to', 'End of the range, Unix seconds. Default: now.').optional(),
});

/** GET all trades of a wallet or token in one response. */
export function createAllTradesRoutes(
  { fills, cache, nowMs }: Pick<Readers, 'fills' | 'cache' | 'nowMs'>,
  hardCap = HARD_CAP,
): readonly Route[] {
  const concurrencyLimiter = createConcurrencyLimiter({
    perAccount: 1,
    total: 2,
    maxWaitMs: 20_000,
    message: 'Another trades/all request is still running. Retry shortly.',
    accountScope: 'trades_all',
    totalScope: 'trades_all_total',
    nowMs,
  });

  const collect = async (filter: FillFilter, toS: number): Promise<Collected> => {
    const startedMs = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedMs);
    const trades: z.input<typeof tradeSchema>[] = [];
    let beyond: LogPosition | null = null;
    let reason: Collected['reason'] = null;
    for (;;) {
      const limit = Math.min(CHUNK, hardCap - trades.length);
      const page: Awaited<ReturnType<typeof fills.fills>> = await fills.fills(
        { ...filter, beyond },
        { order: 'desc', limit, offset: 0 },
      );
      for (const row of page.rows) trades.push(tradeFrom(row));
      beyond = page.next;
      if (beyond === null) break;
      if (trades.length >= hardCap) reason = 'hard_cap_250000';
      else if (elapsedMs() >= WALL_CLOCK_MS) reason = 'wall_clock_180s';
      if (reason !== null) break;
    }
    return { toS, reason, fetchedMs: elapsedMs(), trades };
  };
  const respond = async (name: string, filter: FillFilter, given: z.output<typeof query>, context: RequestContext) => {
    const plan = context.caller?.plan ?? 'free';
    if (!plansWithAll.has(plan)) {
      const message = `trades/all requires the growth plan or higher. Your tier: ${plan}.`;
      throw new ApiError({ kind: 'plan_gate', tier: plan, upgradeUrl: '', status: 403, message });
    }
    const fromS = clampToDateTimeSeconds(given.from) ?? 0;
    const lastS = clampToDateTimeSeconds(given.to) ?? Math.floor(context.nowMs / 1000);
    if (fromS > lastS) throw badParameter('Invalid range. from is after to');
    const key = `v2 trades all ${name} ${given.from ?? ''} ${given.to ?? ''}`;
    const ttlMs = ({ reason }: Collected) => (reason === null ? CACHE_S * 1000 : 0);
    const cached = await cache.getLimited<Collected>(key, ttlMs, (shared) =>
      concurrencyLimiter.run(context.caller?.accountId ?? '', () =>
        shared(() => collect({ ...filter, afterS: fromS, beforeS: lastS }, lastS)),
      ),
    );
    const { toS, reason, fetchedMs, trades } = cached.value;
    return {
      body: {
        from_ts: fromS,
        to_ts: toS,
        count: trades.length,
        partial: reason !== null,
        partial_reason: reason,
        fetched_in_ms: fetchedMs,
        cache: cached.hit ? ('hit' as const) : ('miss' as const),
        trades: [...trades],
      },
      cache: cached,
    };
  };

  const common = {
    ...onchain,
    cacheS: CACHE_S,
    reads: ['fills', 'catalog'],
    description: `Growth plan and higher. Newest first, at most ${HARD_CAP}; \`partial\`: more rows exist.`,
    query,
  } as const;

  const wallet = defineRoute({
    ...common,
    path: '/v2/onchain/wallets/{address}/trades/all',
    summary: 'All fills of a wallet at once',
    params: z.object({ address: v2.wallet }),
    success: {
      description: 'Every fill',
      schema: z.object({ wallet: z.string(), ...commonFields }),
      example: { wallet: exampleFill.maker, ...exampleCommonFields },
    },
    async handler({ params: { address }, query: given }, context) {
      const { body, cache } = await respond(address, { ...allFills, wallets: [address] }, given, context);
      return { body: { wallet: address, ...body }, cache };
    },
  });

  const market = defineRoute({
    ...common,
    path: '/v2/onchain/markets/{token_id}/trades/all',
    summary: 'All fills of an outcome token at once',
    params: z.object({ token_id: v2.tokenId }),
    success: {
      description: 'Every fill',
      schema: z.object({ token_id: z.string(), ...commonFields }),
      example: { token_id: exampleFill.token_id, ...exampleCommonFields },
    },
    async handler({ params: { token_id: id }, query: given }, context) {
      const { body, cache } = await respond(id, { ...allFills, tokenIds: [id] }, given, context);
      return { body: { token_id: id, ...body }, cache };
    },
  });

  return [wallet, market];
}
