import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { numberedEvent } from '../../ingest/catalog/testing/gamma-rows.js';
import { startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { startFakeRtds } from '../../ingest/oracle/testing/fake-rtds.js';
import { conditionId, tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { eventually, startProduct } from '../support/product.js';

/** Markets of the day; those below UNPREPARED were prepared before it, and Gamma does not have NOWHERE. */
const MARKETS = 120;
const UNPREPARED = 20;
const NOWHERE = 77;
const DAY_MS = Date.UTC(2023, 10, 15);
const BLOCK_S = 86_400 / MARKETS;
const FIND_PER_SECOND = 5;

const abi = parseAbi([
  'event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount)',
  'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee)',
]);
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
const wallet = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const oracle = wallet(0xacce55);
const markets = Array.from({ length: MARKETS }, (_, n) => {
  const condition = conditionId({ oracle, questionId: word(n + 1) });
  return { n, condition, tokens: tokenPair(addresses.usdcE, condition) };
});

/** Block n + 1: market n is prepared, unless that was before the day, and its first token bought for 0.4 USDC. */
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
  const filled = {
    address: addresses.exchangeV1,
    topics: encodeEventTopics({
      abi,
      eventName: 'OrderFilled',
      args: { orderHash: word(market.n + 1), maker: wallet(1001), taker: wallet(1002) },
    }) as Hex[],
    data: encodeAbiParameters(
      Array.from({ length: 5 }, () => ({ type: 'uint256' })),
      [0n, BigInt(market.tokens[0]), 400_000n, 1_000_000n, 0n],
    ),
  };
  return market.n < UNPREPARED ? [filled] : [prepared, filled];
}

it('backfill of an old day names every market that Gamma has', async () => {
  const node = await startFakeNode({
    length: MARKETS + 1,
    written: logsOf,
    startS: DAY_MS / 1000 - BLOCK_S,
    blockS: BLOCK_S,
  });
  node.finalize(MARKETS);
  const rtds = await startFakeRtds();
  const gamma = await startFakeGamma();
  gamma.events = [
    ...markets
      .filter(({ n }) => n !== NOWHERE)
      .map(({ n, condition, tokens }) => numberedEvent(n, { conditionId: condition, tokenIds: [...tokens] })),
    numberedEvent(9999, { closed: false }),
  ];
  const beat = setInterval(() => {
    node.announce(node.mine());
    node.finalize(node.blocks.length - 3);
    rtds.publish('crypto_prices_chainlink', 'btc/usd', { timestamp: Date.now(), value: 100 });
  }, 500);
  const product = await startProduct({
    env: {
      LOG_LEVEL: 'warn',
      POLYGON_RPC_URL: node.rpcUrl,
      POLYGON_WS_URL: node.wsUrl,
      CHAIN_START_BLOCK: '1',
      GAMMA_URL: gamma.url,
      RTDS_URL: rtds.url,
    },
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
      [...markets.map(({ n }) => n).filter((n) => n !== NOWHERE), 9999].map((n) => `Question ${n}?`).sort(),
    );
    await eventually('the response for the last id', async () => {
      const { checks } = await product.readyz('ingest');
      return checks.catalog?.detail?.endsWith('0 market lookups queued, 1 ids without a market');
    });

    // The catalogue's lists contain none of them.
    const lists = gamma.requests.filter((request) => request.startsWith('/events/keyset?closed=true'));
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.every((request) => request.includes('end_date_min='))).toBe(true);

    // Each id once among the closed ones, in few requests, within the rate.
    const first = requested().filter(({ closed }) => closed === 'true');
    const ids = first.flatMap((question) => question.ids);
    expect(new Set(ids)).toEqual(
      new Set(markets.map(({ n, condition, tokens }) => (n < UNPREPARED ? tokens[0] : condition))),
    );
    expect(ids.length).toBe(MARKETS);
    expect(Math.max(...first.map((question) => question.ids.length))).toBe(50);
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
    await eventually('what the former process knew', async () => {
      const { checks } = await product.readyz('ingest');
      return checks.catalog?.detail?.endsWith('0 market lookups queued, 1 ids without a market');
    });
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(requested().length).toBe(before);
  } finally {
    clearInterval(beat);
    await product.dispose();
    await Promise.all([node.close(), rtds.stop(), gamma.stop()]);
  }
}, 120_000);
