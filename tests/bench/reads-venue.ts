import type { Product } from '../support/product.js';

/** Size of the synthetic venue. Wallets and tokens are drawn with a skew like on a real venue: u^3 of a uniform u. */
export interface Venue {
  readonly fills: number;
  readonly wallets: number;
  readonly tokens: number;
}

/** Above the recorded blocks, so that the newest block has the highest offset. */
const FIRST_BLOCK = 200_000_000;
const SPAN_S = 450 * 86_400;
/** The newest fill is a minute old. */
const T = Math.floor(Date.now() / 1000) - 60 - SPAN_S;
/** Rows per insert; bounds the engine's memory. */
const STEP = 100_000;

const hex = (width: number, number: string) => `concat('0x', leftPad(lower(hex(toUInt64(${number}))), ${width}, '0'))`;
const hashBytes = (number: string) => `unhex(leftPad(hex(toUInt64(${number})), 64, '0'))`;
const id = (width: number, n: number) => `0x${n.toString(16).padStart(width, '0')}`;
/** Builder code of every tenth fill. */
export const BUILDER = id(64, 0xbb);
/** Tag of every market. */
export const WIDE_TAG = 'crypto';
/** Address of the n-th most active wallet. */
export const wallet = (n: number): string => id(40, 1_000_000_000 + n);
export const token = (n: number): string => String(9_000_000 + n);
export const condition = (n: number): string => id(64, 5_000_000_000 + n);

const skewed = (count: number, salt: number) =>
  `toUInt64(${count} * pow(cityHash64(number, ${salt}) / 18446744073709551616., 3))`;

/** Fills the tables of a running product: `fills` (its views fill the others), positions, PnL events and a catalogue. Reports each step to `onProgress`. */
export async function fillVenue(product: Product, venue: Venue, onProgress: (step: string) => void): Promise<void> {
  const { fills, wallets, tokens } = venue;
  const markets = tokens / 2;
  const w = (salt: number) => hex(40, `1000000000 + ${skewed(wallets, salt)}`);
  const run = (sql: string) => product.sql(`${sql} SETTINGS max_insert_threads = 1, max_threads = 2`);
  const inSteps = async (label: string, count: number, sql: (from: number, rows: number) => string) => {
    for (let from = 0; from < count; from += STEP) {
      await run(sql(from, Math.min(STEP, count - from)));
      onProgress(`${label} ${((Math.min(count, from + STEP) / count) * 100).toFixed(0)} %`);
    }
  };
  // A match has two maker fills and the taker's; ten fills per block.
  await inSteps(
    'fills',
    fills,
    (
      from,
      rows,
    ) => `INSERT INTO fills (block_number, log_index, timestamp, tx_hash, exchange_version, order_hash, maker, taker, is_taker_order, side,
      token_id, usdc, shares, fee, builder, _offset)
    SELECT ${FIRST_BLOCK} + intDiv(number, 10), number % 10, toDateTime(${T} + intDiv(number * ${SPAN_S}, ${fills}), 'UTC'), ${hashBytes('intDiv(number, 3)')},
      2, ${hashBytes('7000000000 + number')}, ${w(1)}, ${w(2)}, number % 3 = 2, if(cityHash64(number, 5) % 2 = 0, 'SELL', 'BUY'),
      toUInt256(9000000 + ${skewed(tokens, 3)}), (1 + cityHash64(number, 6) % 99) * 10000, 1000000, 0, if(cityHash64(number, 10) % 10 = 0, '${BUILDER}', ''), 1000000000 + number
    FROM numbers(${from}, ${rows})`,
  );
  await inSteps(
    'positions',
    Math.round(fills / 5),
    (
      from,
      rows,
    ) => `INSERT INTO positions (wallet, token_id, size, avg_price, cost, realized_pnl, total_bought, bought_usdc, sold_usdc, fills, first_at, last_at, version, _offset)
    SELECT ${w(1)}, toUInt256(9000000 + ${skewed(tokens, 3)}), if(number % 3 = 0, 0, 1000000 + number % 1000000), 0.5, if(number % 3 = 0, 0, 500000),
      toInt64(cityHash64(number, 8) % 2000000) - 1000000, 1000000, 500000, 250000, 2,
      toDateTime(${T} + intDiv(intDiv(number * ${SPAN_S}, ${fills / 5}) * (cityHash64(number, 9) % 1000), 1000), 'UTC'),
      toDateTime(${T} + intDiv(number * ${SPAN_S}, ${fills / 5}), 'UTC'), 1, 1000000000 + number
    FROM numbers(${from}, ${rows})`,
  );
  await inSteps(
    'PnL events',
    fills,
    (
      from,
      rows,
    ) => `INSERT INTO pnl_events (wallet, token_id, id, leg, block_number, log_index, timestamp, action, shares, usdc, cash, cost, realized_pnl, size_after, _offset)
    SELECT ${w(1)}, toUInt256(9000000 + ${skewed(tokens, 3)}), toString(number), 0, ${FIRST_BLOCK} + intDiv(number, 10), number % 10,
      toDateTime(${T} + intDiv(number * ${SPAN_S}, ${fills}), 'UTC'), if(number % 2 = 0, 'BUY', 'SELL'), if(number % 2 = 0, 1000000, -1000000), 500000,
      if(number % 2 = 0, -500000, 500000), if(number % 2 = 0, 500000, -500000), if(number % 2 = 0, 0, toInt64(cityHash64(number, 8) % 200000) - 100000), 1000000, 1000000000 + number
    FROM numbers(${from}, ${rows})`,
  );
  onProgress('catalogue');
  await run(`INSERT INTO markets (condition_id, id, slug, question, event_id, event_slug, event_title, outcomes, token_ids, outcome_prices, active,
      neg_risk_market_id, volume, tag_slugs, _offset)
    SELECT ${hex(64, '5000000000 + number')}, toString(900000000 + number), concat('synthetic-market-', toString(number)), concat('Question ', toString(number)),
      toString(900000000 + intDiv(number, 5)), concat('synthetic-event-', toString(intDiv(number, 5))), concat('Event ', toString(intDiv(number, 5))), ['Yes', 'No'],
      [toUInt256(9000000 + number * 2), toUInt256(9000001 + number * 2)], ['0.5', '0.5'], true, '', ${markets} - number,
      ['${WIDE_TAG}', concat('tag-', toString(number % 1000))], 1000000000 + number FROM numbers(${markets})`);
  await run(`INSERT INTO tokens (token_id, condition_id, outcome_index, outcome, market_slug, event_id, event_slug, _offset)
    SELECT toUInt256(9000000 + number), ${hex(64, '5000000000 + intDiv(number, 2)')}, number % 2, if(number % 2 = 0, 'Yes', 'No'),
      concat('synthetic-market-', toString(intDiv(number, 2))), toString(900000000 + intDiv(number, 10)), concat('synthetic-event-', toString(intDiv(number, 10))),
      1000000000 + intDiv(number, 2) FROM numbers(${tokens})`);
  await run(`INSERT INTO token_quotes (token_id, price, updated_at, _offset)
    SELECT toUInt256(9000000 + number), 0.5, toDateTime64(${T + SPAN_S}, 3, 'UTC'), 1000000000 + number FROM numbers(${tokens})`);
  await run(`INSERT INTO chain_tokens (token_id, other_token_id, condition_id, outcome_index, _offset)
    SELECT 9000000 + number, 9000000 + bitXor(number, 1), ${hex(64, '5000000000 + intDiv(number, 2)')}, number % 2, 1000000000 + number FROM numbers(${tokens})`);
  // Half of the markets are settled.
  await run(`INSERT INTO token_settlements (token_id, condition_id, outcome_index, timestamp, _offset)
    SELECT 9000000 + number * 2, ${hex(64, '5000000000 + number')}, 0, ${T + SPAN_S}, 1000000000 + number FROM numbers(${markets}) WHERE number % 2 = 0`);
}

/** Resolves when no merge is running and no table is left that the product's compaction would merge. */
export async function untilSettled(product: Product, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let quiet = 0; quiet < 5 && performance.now() < deadline; ) {
    const [row] = await product.sql<{ n: string }>(`SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM (
      SELECT count() AS parts, sum(rows) AS total, max(p.rows) AS largest FROM system.parts AS p WHERE active AND database = 'oddstream'
        AND table NOT IN (SELECT name FROM system.tables WHERE database = 'oddstream' AND position(engine_full, ' TTL ') > 0)
      GROUP BY table, partition_id HAVING parts >= 3 AND total >= 100000 AND total - largest > largest / 100)) AS n`);
    quiet = Number(row?.n) === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
