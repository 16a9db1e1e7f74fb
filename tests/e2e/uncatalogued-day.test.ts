import { encodeEventTopics, type Hex, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { numberedEvent } from '../../ingest/catalog/testing/gamma-rows.js';
import { conditionId, tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { orderFilledLog, startOnFakeUpstreams, wallet, word } from '../support/fake-upstreams.js';
import { eventually } from '../support/product.js';

/** Number of markets of the day. Markets below UNPREPARED were prepared before it; Gamma does not have market MISSING. */
const MARKETS = 120;
const UNPREPARED = 20;
const MISSING = 77;
const DAY_MS = Date.UTC(2023, 10, 15);
const BLOCK_S = 86_400 / MARKETS;
const FIND_PER_SECOND = 5;

const abi = parseAbi([
  'event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount)',
]);
const oracle = wallet(0xacce55);
const markets = Array.from({ length: MARKETS }, (_, n) => {
  const condition = conditionId({ oracle, questionId: word(n + 1) });
  return { n, condition, tokens: tokenPair(addresses.usdcE, condition) };
});

/** Block n + 1: prepares market n, unless it was prepared before the day, and buys its first token for 0.4 USDC. */
function logsOf(block: number) {
  const market = markets[block - 1];
  if (market === undefined) return [];
  const prepared = {
    address: addresses.conditionalTokens,
    topics: encodeEventTopics({
      abi,
      eventName: 'ConditionPreparation',
      args: { conditionId: market.condition, oracle, questionId: word(market.n + 1) },
    }) as Hex[],
    data: word(2),
  };
  const filled = orderFilledLog(word(market.n + 1), BigInt(market.tokens[0]));
  return market.n < UNPREPARED ? [filled] : [prepared, filled];
}

it('backfill of an old day names every market that Gamma has', async () => {
  const { product, gamma, stop } = await startOnFakeUpstreams({
    length: MARKETS + 1,
    logsOf,
    startS: DAY_MS / 1000 - BLOCK_S,
    blockS: BLOCK_S,
    mineEveryMs: 500,
    events: [
      ...markets
        .filter(({ n }) => n !== MISSING)
        .map(({ n, condition, tokens }) => numberedEvent(n, { conditionId: condition, tokenIds: [...tokens] })),
      numberedEvent(9999, { closed: false }),
    ],
  });
  try {
    const requested = () =>
      gamma.requests.flatMap((request, i) => {
        const url = new URL(request, gamma.url);
        const ids = ['condition_ids', 'clob_token_ids'].flatMap((name) => url.searchParams.getAll(name));
        return url.pathname === '/markets'
          ? [{ ids, closed: url.searchParams.get('closed'), atMs: gamma.requestedMs[i] ?? 0 }]
          : [];
      });
    const named = await eventually('the names', async () => {
      const rows = await product.sql<{ question: string }>(
        "SELECT question FROM markets FINAL WHERE question LIKE 'Question %'",
      );
      return rows.length >= MARKETS && rows;
    });
    expect(named.map(({ question }) => question).sort()).toEqual(
      [...markets.map(({ n }) => n).filter((n) => n !== MISSING), 9999].map((n) => `Question ${n}?`).sort(),
    );
    await eventually('the response for the last id', async () => {
      const { checks } = await product.readyz('ingest');
      return checks.catalog?.detail?.endsWith('0 market lookups queued, 1 ids without a market');
    });

    // The catalogue's lists contain none of them.
    const lists = gamma.requests.filter((request) => request.startsWith('/events/keyset?closed=true'));
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.every((request) => request.includes('end_date_min='))).toBe(true);

    // Each id is requested once among closed markets, in few requests, within the rate limit.
    const first = requested().filter(({ closed }) => closed === 'true');
    const ids = first.flatMap(({ ids: requestIds }) => requestIds);
    expect(new Set(ids)).toEqual(
      new Set(markets.map(({ n, condition, tokens }) => (n < UNPREPARED ? tokens[0] : condition))),
    );
    expect(ids.length).toBe(MARKETS);
    expect(Math.max(...first.map(({ ids: requestIds }) => requestIds.length))).toBe(50);
    expect(first.length).toBeLessThanOrEqual(6);
    const times = gamma.requests.flatMap((request, i) =>
      /^\/markets|^\/events\?id=/.test(request) ? [gamma.requestedMs[i] ?? 0] : [],
    );
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(FIND_PER_SECOND + 1);

    const api = async (path: string) => {
      const { status, body } = await product.get(path);
      return { status, text: JSON.stringify(body) };
    };
    await eventually(
      'the api',
      async () => (await api(`/v3/markets/condition/${markets[0]?.condition}`)).status === 200,
    );
    for (const { n, condition } of [markets[3], markets[UNPREPARED], markets[MARKETS - 1]].flatMap(
      (one) => one ?? [],
    )) {
      const market = await eventually(`market ${n}`, async () => {
        const response = await api(`/v3/markets/condition/${condition}`);
        return response.status === 200 && response.text;
      });
      expect(market).toContain(`Question ${n}?`);
      const trades = await eventually(`the trade of market ${n}`, async () => {
        const response = await api(`/v3/trades?condition_id=${condition}`);
        return response.status === 200 && response.text.includes(word(n + 1).slice(-3)) && response.text;
      });
      expect(trades).toContain(`market-${n}`);
    }

    // A restarted process requests none of them again.
    const before = requested().length;
    const loads = () => gamma.requests.filter((request) => request.startsWith('/events/keyset?closed=true')).length;
    const loadsBefore = loads();
    const pid = product.pid('ingest') ?? -1;
    process.kill(pid, 'SIGKILL');
    await eventually('the second load', async () => loads() > loadsBefore);
    await eventually('the state of the former process', async () => {
      const { checks } = await product.readyz('ingest');
      return checks.catalog?.detail?.endsWith('0 market lookups queued, 1 ids without a market');
    });
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(requested().length).toBe(before);
  } finally {
    await stop();
  }
});
