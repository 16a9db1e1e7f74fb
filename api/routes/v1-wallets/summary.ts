import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { isComboSql, unrealizedPnlSql } from '../../../schemas/primitives/positions.sql.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { currentPnlOfPositionSql } from '../../pnl-series/current-pnl.sql.js';
import { allCompleteField } from '../../positions/completeness.js';
import type { Readers } from '../../readers.js';
import type { Sql } from '../../tables/port.js';
import { common } from './params.js';

const CACHE_S = 30;
const DAY_S = 86_400;
/** Days of the windows, by the suffix of their fields. */
const windows = { '1d': 1, '7d': 7, '30d': 30 } as const;

/** Sums over a wallet's positions. Amounts in base units, as text. */
interface ValuesRow {
  readonly realized: string;
  readonly unrealized: string;
  readonly volume: string;
  readonly positions: number | string;
  readonly open: number | string;
  readonly incomplete: number | string;
  readonly net: string;
  readonly fees: string;
  readonly open_value: string;
  readonly redeemable_value: string;
}

/** Orders of a wallet that were filled; times in Unix seconds, 0 without a fill. */
interface FillsRow {
  readonly fills: number | string;
  readonly first_at: number | string;
  readonly last_at: number | string;
}

/** Shares times price, rounded half up to base units. */
const value = 'intDiv(toInt256(p.size) * toInt256(round(q.price * 1000000)) * 2 + 1000000, toInt256(2000000))';

/** One statement: sums at different prices would contradict each other. */
const valuesSql = (wallet: string): Sql => ({
  text: `SELECT toString(sum(toInt256(p.realized_pnl))) AS realized, toString(sum(${unrealizedPnlSql('p', 'q')})) AS unrealized,
        toString(sum(toUInt256(p.bought_usdc) + toUInt256(p.sold_usdc))) AS volume,
        count() AS positions, countIf(p.size > 0 AND NOT q.resolved) AS open, countIf(p.unpriced > 0) AS incomplete,
        toString(sum(${currentPnlOfPositionSql('p', 'q')})) AS net, toString(sum(toUInt256(p.fees))) AS fees,
        toString(sumIf(${value}, NOT q.resolved)) AS open_value, toString(sumIf(${value}, q.resolved)) AS redeemable_value
      FROM (
        SELECT token_id, size, received, avg_price, cost, realized_pnl, bought_usdc, sold_usdc, fees, fee_cost, unpriced
        FROM positions FINAL WHERE wallet = {wallet:String} AND NOT ${isComboSql('token_id')}
      ) AS p
      LEFT JOIN (
        SELECT token_id, price, source, resolved FROM token_prices
        WHERE token_id IN (SELECT token_id FROM positions WHERE wallet = {wallet:String} AND size > 0)
      ) AS q ON q.token_id = p.token_id`,
  params: { wallet },
});

const fillsSql = (wallet: string): Sql => ({
  text: `SELECT count() AS fills, toUnixTimestamp(min(timestamp)) AS first_at, toUnixTimestamp(max(timestamp)) AS last_at
      FROM fills_by_wallet FINAL
      WHERE wallet = {wallet:String} AND role = 'maker' AND exchange_version < 3`,
  params: { wallet },
});

const usd = (description: string) => z.number().meta({ description });
const schema = z.object({
  wallet: z.string(),
  realized_pnl: usd('USD, before fees.'),
  unrealized_pnl: usd('USD at the current prices.'),
  net_pnl: usd(
    'After all fees at the current prices: cash received minus cash paid, plus the value of the shares, USD.',
  ),
  realized_pnl_1d: usd('Of the last 24 hours, USD, before fees.'),
  realized_pnl_7d: usd('Of the last 7 days, USD, before fees.'),
  realized_pnl_30d: usd('Of the last 30 days, USD, before fees.'),
  volume: usd('USD bought and sold.'),
  fees: usd('Fees paid in USDC.'),
  fees_in_shares: usd(
    'Cost of the shares that were taken as fees, USD: `realized_pnl` + `unrealized_pnl` - `fees` - `net_pnl`.',
  ),
  positions: z.int().meta({ description: 'Number of positions, closed ones included.' }),
  open_positions: z.int().meta({ description: 'With shares, in markets that are not settled.' }),
  open_value: usd('Value of the open positions at the current prices, USD.'),
  redeemable_value: usd('Value of the shares in settled markets, USD.'),
  fills: z.int().meta({ description: "Fills of the wallet's own orders." }),
  first_trade_at: z.int().nullable().meta({ description: 'Unix seconds; null without a trade.' }),
  last_trade_at: z.int().nullable().meta({ description: 'Unix seconds; null without a trade.' }),
  complete: allCompleteField,
});

/** `recent`: realized PnL by window, base units. */
function summaryFrom(
  wallet: string,
  values: ValuesRow,
  traded: FillsRow,
  recent: Readonly<Record<keyof typeof windows, bigint>>,
): z.input<typeof schema> {
  const [realized, unrealized] = [BigInt(values.realized), BigInt(values.unrealized)];
  const [net, fees] = [BigInt(values.net), BigInt(values.fees)];
  const timeOf = (at: number | string) => (Number(traded.fills) === 0 ? null : Number(at));
  return {
    wallet,
    realized_pnl: moneyToNumber(realized),
    unrealized_pnl: moneyToNumber(unrealized),
    net_pnl: moneyToNumber(net),
    realized_pnl_1d: moneyToNumber(recent['1d']),
    realized_pnl_7d: moneyToNumber(recent['7d']),
    realized_pnl_30d: moneyToNumber(recent['30d']),
    volume: moneyToNumber(BigInt(values.volume)),
    fees: moneyToNumber(fees),
    fees_in_shares: moneyToNumber(realized + unrealized - fees - net),
    positions: Number(values.positions),
    open_positions: Number(values.open),
    open_value: moneyToNumber(BigInt(values.open_value)),
    redeemable_value: moneyToNumber(BigInt(values.redeemable_value)),
    fills: Number(traded.fills),
    first_trade_at: timeOf(traded.first_at),
    last_trade_at: timeOf(traded.last_at),
    complete: Number(values.incomplete) === 0,
  };
}

/** GET /v1/wallets/{wallet}/summary: profit, volume, fees and open positions of a wallet. */
export const createWalletSummaryRoute = ({ tables, pnl, cache }: Readers): Route =>
  defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v1/wallets/{wallet}/summary',
    reads: ['positions', 'fills', 'pnl', 'catalog'],
    summary: 'Profit, volume, fees and open positions of a wallet',
    description: 'Without combos; zeros for a wallet without history.',
    params: z.object({ wallet: named.wallet }),
    success: {
      description: 'The sums',
      schema,
      example: summaryFrom(
        EXAMPLE_WALLET,
        {
          realized: '12400000',
          unrealized: '-3100000',
          volume: '615000000',
          positions: 7,
          open: 2,
          incomplete: 0,
          net: '8969000',
          fees: '331000',
          open_value: '42000000',
          redeemable_value: '0',
        },
        { fills: 31, first_at: 1789000000, last_at: 1790000200 },
        { '1d': 0n, '7d': 2_100_000n, '30d': 12_400_000n },
      ),
    },
    async handler({ params: { wallet } }, { nowMs }) {
      const nowS = Math.floor(nowMs / 1000);
      const spans = Object.values(windows).map((days) => ({ afterS: nowS - days * DAY_S, beforeS: nowS }));
      const cached = await cache.get(`v1 wallet summary ${wallet}`, CACHE_S * 1000, async () => {
        const [[values], [traded], [day, week, month]] = await Promise.all([
          tables.rows<ValuesRow>(valuesSql(wallet)),
          tables.rows<FillsRow>(fillsSql(wallet)),
          pnl.spanPnl(wallet, spans, { tokens: null, combos: false }),
        ]);
        const recent = { '1d': day?.realized ?? 0n, '7d': week?.realized ?? 0n, '30d': month?.realized ?? 0n };
        return summaryFrom(wallet, values as ValuesRow, traded as FillsRow, recent);
      });
      return { body: cached.value, cache: cached };
    },
  });
