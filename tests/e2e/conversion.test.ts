import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { watchedAddresses, watchedTopics } from '../../ingest/chain/contracts.js';
import { decodeBlock } from '../../ingest/chain/decode/index.js';
import { createRpcSource } from '../../ingest/chain/rpc/rpc-source.js';
import type { ChainSource } from '../../ingest/chain/source.js';
import { isUnread } from '../../ingest/chain/unread-events.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { conditionId, negRiskQuestionId, tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ActivityState } from '../../schemas/types.gen.js';
import { type Anvil, compileContract, startAnvil } from '../support/anvil.js';
import { freePort } from '../support/ports.js';
import { accountFor } from '../support/positions.js';

const shares = parseAbi([
  'function prepare(address oracle, bytes32 questionId)',
  'function balanceOf(uint256 id, address account) view returns (uint256)',
]);
const adapter = parseAbi([
  'function prepareMarket(bytes32 market, uint256 feeBips, bytes data)',
  'function split(bytes32 condition, uint256[] pair, uint256 amount)',
  'function convert(bytes32 market, uint256 indexSet, uint256[] no, uint256[] yes, uint256 amount, uint256 feeBips)',
  'function collateral(address account) view returns (int256)',
]);
const CTF = addresses.conditionalTokens as Hex;
const ADAPTER = addresses.negRiskAdapter as Hex;
// The node's first development account, for which it signs.
const USER: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const SCALE = 10n ** 12n;

let dir = '';
let anvil: Anvil;
let source: ChainSource;
let nonce = 0;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'conversion-'));
  const port = await freePort();
  anvil = await startAnvil({ port, slots: 1, stateFile: join(dir, 'state.json') });
  await anvil.rpc('anvil_setCode', CTF, compileContract('NegRisk.sol', 'Shares'));
  await anvil.rpc('anvil_setCode', ADAPTER, compileContract('NegRisk.sol', 'Adapter'));
  source = createRpcSource({
    rpcUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    filter: { addresses: watchedAddresses, topics: watchedTopics, skips: isUnread },
    pendingTo: [],
    chainId: 137,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
  });
});
afterAll(async () => {
  await source?.close();
  await anvil?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const send = async (to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) => {
  const data = encodeFunctionData({ abi, functionName, args });
  const nonceHex = `0x${nonce.toString(16)}`;
  nonce += 1;
  await anvil.rpc('eth_sendTransaction', { from: USER, to, data, nonce: nonceHex, gas: '0x2dc6c0' });
};
const call = async (to: Hex, abi: Abi, functionName: string, args: readonly unknown[]): Promise<bigint> => {
  const data = encodeFunctionData({ abi, functionName, args });
  return decodeFunctionResult({
    abi,
    functionName,
    data: await anvil.rpc<Hex>('eth_call', { to, data }, 'latest'),
  }) as bigint;
};
const tip = async () => Number(await anvil.rpc<Hex>('eth_blockNumber'));
const collateral = () => call(ADAPTER, adapter, 'collateral', [USER]);

/** A conversion: full sets of every question are created first, then NO tokens of the questions in `mask` are converted. */
const conversion = fc.integer({ min: 2, max: 6 }).chain((questions) =>
  fc.record({
    questions: fc.constant(questions),
    mask: fc.integer({ min: 1, max: 2 ** questions - 1 }),
    sets: fc.bigInt({ min: 2n, max: 50_000_000n }),
    /** Thousandths of the sets that are converted. */
    part: fc.integer({ min: 1, max: 1000 }),
    bips: fc.constantFrom(0n, 1n, 37n, 250n, 9_999n),
    /** True if the log contains the preparation of the market with its fee. */
    prepared: fc.boolean(),
  }),
);

describe('a neg-risk conversion on a node', () => {
  it('removes NO, adds every other YES and the collateral minus the fee, on chain and in the positions processor', {
    timeout: 240_000,
  }, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(conversion, async ({ questions, mask, sets, part, bips, prepared }) => {
        run += 1;
        const market: Hex = `0x${run.toString(16).padStart(62, '0')}00`;
        const amount = (sets * BigInt(part)) / 1000n || 1n;
        const group = Array.from({ length: questions }, (_, i) => {
          const question = negRiskQuestionId(market, i) as Hex;
          const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId: question }) as Hex;
          const [yes, no] = tokenPair(addresses.wrappedCollateral, condition).map(BigInt) as [bigint, bigint];
          return { question, condition, yes, no, given: ((mask >> i) & 1) === 1 };
        });
        const given = group.filter((one) => one.given);
        const others = group.filter((one) => !one.given);
        const fee = (amount * bips) / 10_000n;
        // If all questions are converted no YES is created, so only the preparation contains the fee.
        const isPrepared = prepared || others.length === 0;
        const n = BigInt(given.length);

        const before = { block: await tip(), collateral: await collateral() };
        if (isPrepared) await send(ADAPTER, adapter, 'prepareMarket', [market, bips, '0x6d61726b6574']);
        for (const { question, condition, yes, no } of group) {
          await send(CTF, shares, 'prepare', [ADAPTER, question]);
          await send(ADAPTER, adapter, 'split', [condition, [yes, no], sets]);
        }
        await anvil.rpc('anvil_mine', '0x1');
        const collateralBefore = await collateral();
        await send(ADAPTER, adapter, 'convert', [
          market,
          BigInt(mask),
          given.map(({ no }) => no),
          others.map(({ yes }) => yes),
          amount,
          bips,
        ]);
        await anvil.rpc('anvil_mine', '0x1');

        // The chain: the venue's rules for a conversion.
        const balance = (id: bigint) => call(CTF, shares, 'balanceOf', [id, USER]);
        for (const one of group) {
          expect(await balance(one.no)).toBe(one.given ? sets - amount : sets);
          expect(await balance(one.yes)).toBe(one.given ? sets : sets + amount - fee);
        }
        expect((await collateral()) - collateralBefore).toBe((n - 1n) * (amount - fee));

        // The positions processor, from the logs of the node.
        const memory = new Map<string, ActivityState>();
        const state = {
          get: (id: string) => memory.get(id),
          set: (id: string, value: ActivityState) => void memory.set(id, value),
        };
        const tokens = createTokens();
        const activity = [];
        const range = { fromBlock: before.block + 1, toBlock: await tip() };
        for await (const block of source.history(range, new AbortController().signal)) {
          const { events, problems } = decodeBlock(block);
          expect(problems).toEqual([]);
          activity.push(...computeBlockActivity(events, tokens, state).activity);
        }
        expect(activity.map(({ action }) => action)).toEqual([...group.map(() => 'SPLIT'), 'CONVERT']);
        const { positions, events } = accountFor(activity);
        const sizeOf = (token: bigint) => {
          const found = positions.find(({ wallet, token_id }) => wallet === USER && token_id === String(token));
          expect(found?.received ?? 0n).toBe(0n);
          return found?.size ?? 0n;
        };
        for (const one of group) {
          expect(sizeOf(one.no)).toBe(await balance(one.no));
          expect(sizeOf(one.yes)).toBe(await balance(one.yes));
        }
        const cash = events.reduce((sum, event) => sum + event.cash, 0n);
        expect(cash).toBe(((await collateral()) - before.collateral) * SCALE);
        expect(events.filter(({ problem }) => problem !== null)).toEqual([]);
        // Cash received minus cash paid is PnL minus the cost of the remaining shares: no part of the fee is lost.
        const profit = positions.reduce((sum, one) => sum + one.realized - one.cost, 0n);
        expect(cash).toBe(profit);
      }),
      {
        numRuns: 25,
        examples: [
          [{ questions: 3, mask: 7, sets: 12_345_677n, part: 1000, bips: 250n, prepared: true }],
          [{ questions: 2, mask: 3, sets: 1_000_001n, part: 333, bips: 9_999n, prepared: true }],
          [{ questions: 4, mask: 5, sets: 9_999_999n, part: 500, bips: 37n, prepared: false }],
        ],
      },
    );
  });
});
