import { z } from 'zod';
import type { Logger } from '../../../infra/telemetry/logger.js';
import { DEFAULT_SLIPPAGE_BPS } from '../../../schemas/copy-pnl/cash.sql.js';
import { commonLimits } from '../../../schemas/plans.js';
import { enforceCopyPnlLimit } from '../../copy-pnl/request-limit.js';
import type { ScoreReader } from '../../copy-pnl/score-reader.js';
import { copyWindow } from '../../copy-pnl/window.js';
import { flagParam, usdParam, walletParam } from '../../http/chain-params.js';
import { jsonBody } from '../../http/json-body.js';
import { integerParam, parsedText } from '../../http/params.js';
import { defineRoute, type RequestContext, type Route } from '../../http/route.js';
import { createConcurrencyLimiter } from '../../limits/concurrency-limiter.js';
import type { RateLimitStore } from '../../limits/port.js';
import { common } from './pool-common.js';
import {
  copierBody,
  copierSchema,
  copierSlippageOf,
  curveBody,
  exampleScoreBody,
  scoreBody,
  scoreSchema,
} from './score-body.js';
import { periodParam, windowParams } from './window-params.js';

const BUDGET_S = commonLimits.copyPnlScanBudgetMs / 1000;
const MAX_BATCH = commonLimits.copyPnlBatchWallets;
const MAX_TRADES = 10_000;
const MAX_TRADES_PER_BATCH_WALLET = 1_000;
/** Addresses beyond MAX_BATCH get the error text of too many. */
const BATCH_BODY_BYTES = 128 * 1024;
const MAX_DELAY_S = 86_400;
/** Longest wait for a permit. */
const MAX_WAIT_MS = 30_000;
const TIMEOUT_ERROR = `timeout_${BUDGET_S}s`;
const FAILED_ERROR = 'The scan of this wallet failed. Retry.';
const INVALID_BODY = 'Body must include "addresses": [...].';
const INVALID_WALLET = 'Invalid wallet';
const INVALID_SLIPPAGE = 'Invalid slippage_pct. Use a number from 0 to 10 with at most 2 decimals';

const slippageParam = parsedText(
  {
    text: z.string().regex(/^\d{1,2}(\.\d{1,2})?$/, INVALID_SLIPPAGE),
    parse(text) {
      const bps = Math.round(Number(text) * 100);
      return bps <= 1_000 ? bps : undefined;
    },
    invalid: INVALID_SLIPPAGE,
  },
  {
    type: 'number',
    minimum: 0,
    maximum: 10,
    description: 'Slippage of the copier in percent. Default 2.',
    example: 1.5,
  },
);

const address = parsedText(
  {
    text: z.string({ error: INVALID_BODY }),
    parse: (text) => (/^0x[0-9a-f]{40}$/.test(text.toLowerCase()) ? text.toLowerCase() : undefined),
    invalid: (text) => `${INVALID_WALLET}: ${text.slice(0, 80)}`,
  },
  { type: 'string' },
);

const batchBody = jsonBody(
  {
    addresses: z
      .array(address, { error: INVALID_BODY })
      .min(1, INVALID_BODY)
      .max(MAX_BATCH, `Max ${MAX_BATCH} addresses per batch.`)
      .meta({ description: `1 to ${MAX_BATCH} wallets, any letter case.` }),
    ...windowParams,
    include_trades: z
      .boolean({ error: 'Invalid include_trades. Use true or false' })
      .optional()
      .meta({ description: `Adds the first ${MAX_TRADES_PER_BATCH_WALLET} trades of each wallet.` }),
  },
  { notAnObject: INVALID_BODY },
);

/** GET /v2/copy-pnl/{wallet} and POST /v2/copy-pnl/batch: scores over any window. */
export function createScoreRoutes(deps: {
  readonly scores: ScoreReader;
  readonly rateLimitStore: RateLimitStore;
  readonly nowMs: () => number;
  readonly logger: Logger;
}): readonly Route[] {
  const { scores, rateLimitStore } = deps;
  // A scan may use its whole time budget, so the number of scans is limited to leave capacity for other requests.
  const limiter = createConcurrencyLimiter({
    perAccount: 1,
    total: 2,
    maxWaitMs: MAX_WAIT_MS,
    message: 'Too many copy-PnL scans are running. Retry shortly.',
    accountScope: 'copy_pnl_account',
    totalScope: 'copy_pnl_busy',
    nowMs: deps.nowMs,
  });
  const scan = <T>(context: RequestContext, work: () => Promise<T>): Promise<T> =>
    limiter.run(context.caller?.accountId ?? '', work);
  const batch = defineRoute({
    ...common,
    method: 'post',
    path: '/v2/copy-pnl/batch',
    reads: ['wallet_activity'],
    summary: 'Copy-PnL of several wallets',
    description: `Scores up to ${MAX_BATCH} wallets over one window, in the order of the request. Counts as one request. A wallet that is not reached within 45 s, or cannot be read, has an error instead of a score.`,
    body: batchBody,
    bodyLimitBytes: BATCH_BODY_BYTES,
    success: {
      description: 'One score per address',
      schema: z.object({
        count: z.int(),
        elapsed_ms: z.int(),
        results: z.array(z.union([scoreSchema, z.object({ wallet: z.string(), error: z.string() })])),
      }),
      example: { count: 1, elapsed_ms: 31, results: [exampleScoreBody] },
    },
    async handler({ body: { addresses, from, to, include_trades: includeTrades = false } }, context) {
      const window = copyWindow({ from, to }, context.nowMs);
      await enforceCopyPnlLimit(rateLimitStore, context);
      const options = { includeTrades, maxTrades: MAX_TRADES_PER_BATCH_WALLET };
      const found = await scan(context, () => scores.scores(addresses, window, options));
      return {
        body: {
          count: addresses.length,
          elapsed_ms: context.elapsedMs(),
          results: addresses.map((wallet, i) => {
            const score = found[i] ?? null;
            if (score === null) return { wallet, error: TIMEOUT_ERROR };
            if (!(score instanceof Error)) return scoreBody(score, window);
            deps.logger.error({ err: score, wallet }, 'a wallet of a copy-PnL batch could not be scored');
            return { wallet, error: FAILED_ERROR };
          }),
        },
      };
    },
  });

  const single = defineRoute({
    ...common,
    method: 'get',
    path: '/v2/copy-pnl/{wallet}',
    reads: ['wallet_activity', 'fills'],
    summary: 'Copy-PnL of a wallet',
    description: `What copying the wallet's trades would have brought in a window of at most ${commonLimits.copyPnlWindowDays} days: every fill with slippage (a BUY pays at most 1.00 per share), settlements at face value. Open positions are not valued. A scan stops after ${BUDGET_S} s.`,
    params: z.object({ wallet: walletParam({ invalid: INVALID_WALLET, echo: true }) }),
    query: z.object({
      period: periodParam,
      ...windowParams,
      include_trades: flagParam({
        description: `1: adds the trades, at most ${MAX_TRADES}.`,
        invalid: 'Invalid include_trades. Use: 0, 1',
      }).default(false),
      slippage_pct: slippageParam.optional(),
      delay_seconds: integerParam({
        description:
          "Delay of the copier in seconds after the fill of the wallet; the price is that of the token's next fill. Default 0.",
        invalid: `Invalid delay_seconds. Use 0 to ${MAX_DELAY_S}`,
        min: 0,
        max: MAX_DELAY_S,
      }).optional(),
      min_liquidity_usd: usdParam({
        description:
          'Minimum volume of a token over all wallets in the window, USDC; the copier skips tokens below it. Default 0.',
        invalid: 'Invalid min_liquidity_usd',
      }).optional(),
      include_curve: flagParam({
        description: '1: adds the cumulative cash flow per UTC day.',
        invalid: 'Invalid include_curve. Use: 0, 1',
      }).default(false),
    }),
    success: {
      description: 'The score',
      schema: scoreSchema.extend(copierSchema),
      example: exampleScoreBody,
    },
    async handler({ params: { wallet }, query }, context) {
      const window = copyWindow(query, context.nowMs);
      const { slippage_pct: slippageBps, delay_seconds: delayS, min_liquidity_usd: minLiquidity } = query;
      await enforceCopyPnlLimit(rateLimitStore, context);
      const conditions = {
        slippageBps: slippageBps ?? DEFAULT_SLIPPAGE_BPS,
        delayS: delayS ?? 0,
        minLiquidity: minLiquidity ?? 0n,
      };
      const hasConditions = slippageBps !== undefined || delayS !== undefined || minLiquidity !== undefined;
      const options = {
        includeTrades: query.include_trades,
        maxTrades: MAX_TRADES,
        slippageBps: conditions.slippageBps,
      };
      const [score, backtest] = await scan(context, () =>
        Promise.all([
          scores.score(wallet, window, options),
          hasConditions || query.include_curve ? scores.copier(wallet, window, conditions) : null,
        ]),
      );
      const days = backtest?.days ?? null;
      const partial = score.partial || backtest?.isPartial === true;
      return {
        body: {
          ...scoreBody({ ...score, partial }, window, days === null ? undefined : copierSlippageOf(days)),
          ...(days !== null && hasConditions ? { copier: copierBody(days, conditions) } : {}),
          ...(days !== null && query.include_curve ? { curve: curveBody(days) } : {}),
        },
      };
    },
  });
  return [batch, single];
}
