import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeEventLog, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { settlementTargets, watchedAddresses, watchedTopics } from '../../ingest/chain/contracts.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { createRpcSource } from '../../ingest/chain/rpc/rpc-source.js';
import { runChain } from '../../ingest/chain/run-chain.js';
import { isUnread } from '../../ingest/chain/unread-events.js';
import { createDeadLetters } from '../../ingest/shared/dead-letters.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { type AnyEvent, createCodec, type EventOf } from '../../schemas/codec.js';
import { topics, topicsOnOneMachine } from '../../schemas/topics.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { type Anvil, compileContract, startAnvil, startTcpProxy } from '../support/anvil.js';
import { freePort } from '../support/ports.js';

const EXCHANGE = '0xe111180000d2663c0091e4f400237545b87b996b';
const SLOTS = 4;
const abi = parseAbi([
  'struct Order { uint256 salt; address maker; address signer; uint256 tokenId; uint256 makerAmount; uint256 takerAmount; uint8 side; uint8 signatureType; uint256 timestamp; bytes32 metadata; bytes32 builder; bytes signature; }',
  'function matchOrders(bytes32 conditionId, Order takerOrder, Order[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts, uint256 takerFeeAmount, uint256[] makerFeeAmounts)',
  'event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint8 side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee, bytes32 builder, bytes32 metadata)',
]);
// The node's first well-known development account.
const operator = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
const codec = createCodec();
const ZERO: Hex = `0x${'0'.repeat(64)}`;
const wallet = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;

describe('chain ingest on a real node', () => {
  let dir = '';
  let port = 0;
  let anvil: Anvil;
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  let log: Log;
  let nonce = 0;
  let ingest: { stop(): Promise<void>; status: ReturnType<typeof createSourceStatus> };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'anvil-'));
    port = await freePort();
    anvil = await startAnvil({ port, slots: SLOTS, stateFile: join(dir, 'state.json') });
    await anvil.rpc('anvil_setCode', EXCHANGE, compileContract('Emitter.sol', 'Emitter'));
    proxy = await startTcpProxy(port);
    log = await openLog(`lmdb:${join(dir, 'log')}`, { logger: silentLogger() });
    await log.ensureTopics(topicsOnOneMachine);
  });
  afterAll(async () => {
    await ingest?.stop();
    await log?.close();
    await proxy?.close();
    await anvil?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function startIngest() {
    const metrics = createMetrics({ process: 'test', defaults: false });
    const logger = silentLogger();
    const stop = new AbortController();
    const source = createRpcSource({
      rpcUrl: `http://127.0.0.1:${proxy.port}`,
      wsUrl: `ws://127.0.0.1:${proxy.port}`,
      startBlock: 0,
      filter: { addresses: watchedAddresses, topics: watchedTopics, skips: isUnread },
      pendingTo: settlementTargets,
      chainId: 137,
      logger,
      metrics,
      options: {
        live: { reconnect: { attempts: 1, baseMs: 20, maxMs: 100 } },
        ranges: { startBlocks: 16, maxBlocks: 64 },
        retryPolicy: { attempts: 50, baseMs: 50, maxMs: 200 },
      },
    });
    const status = createSourceStatus({ log, codec, logger, source: 'chain', mode: 'live' });
    const done = runChain({
      source,
      log,
      codec,
      decoder: { decodeBlock, blockEvent, decodePending },
      deadLetters: createDeadLetters({ log, codec, metrics, logger }),
      status,
      metrics,
      logger,
      signal: stop.signal,
    });
    done.catch(() => undefined);
    return {
      status,
      async stop() {
        stop.abort();
        await source.close();
        await done;
        await status.close();
      },
    };
  }
  async function events(topic: string): Promise<AnyEvent[]> {
    const out: AnyEvent[] = [];
    for await (const { records } of log.read({ topic, partition: 0, from: 'earliest', follow: false })) {
      for (const { value } of records) out.push(codec.decode(value!));
    }
    return out;
  }
  const head = () => events(topics.chainHead.name);
  async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
    for (const startedMs = Date.now(); Date.now() - startedMs < 20_000; ) {
      const found = await find();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`never came: ${what}`);
  }
  const one = <K extends EventKind>(kind: K, matches: (value: EventOf<K>['value']) => boolean) =>
    until(`${kind}`, async () => {
      const all = (await head()) as readonly AnyEvent[];
      return all.find((event): event is EventOf<K> => event.kind === kind && matches(event.value as never));
    });
  const headAt = (number: number) =>
    until(`head ${number}`, async () => ((ingest.status.current.head ?? -1) >= number ? true : undefined));

  /** A match of one BUY taker with `makers` SELL makers, signed but not sent. */
  const signMatch = (makers: number) => {
    nonce += 1;
    const order = (index: number, side: number) => ({
      salt: BigInt(nonce * 100 + index),
      maker: wallet(0xa00 + index),
      signer: wallet(0xb00 + index),
      tokenId: 9001n,
      makerAmount: side === 0 ? 60_000_000n : 100_000_000n,
      takerAmount: side === 0 ? 100_000_000n : 55_000_000n,
      side,
      signatureType: 2,
      timestamp: 1_790_000_000_000n,
      metadata: ZERO,
      builder: ZERO,
      signature: '0x' as Hex,
    });
    const sells = Array.from({ length: makers }, (_, index) => order(index + 1, 1));
    const fills = sells.map((_, index) => BigInt(index + 1) * 2_000_000n);
    const data = encodeFunctionData({
      abi,
      functionName: 'matchOrders',
      args: [`0x${'c0'.repeat(32)}`, order(0, 0), sells, 1_000_000n, fills, 12_340n, fills.map(() => 0n)],
    });
    return operator.signTransaction({
      type: 'eip1559',
      chainId: 137,
      nonce: nonce - 1,
      gas: 2_000_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      to: EXCHANGE,
      data,
    });
  };
  const send = (raw: Hex) => anvil.rpc<Hex>('eth_sendRawTransaction', raw);
  const mine = (blocks = 1) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`);
  const tip = async () => Number(await anvil.rpc<Hex>('eth_blockNumber'));

  /** The fills of the node's canonical chain, decoded by viem. */
  async function fillsOnChain(fromBlock: number, toBlock: number) {
    const logs = await anvil.rpc<
      { transactionHash: Hex; logIndex: Hex; blockNumber: Hex; topics: [Hex, ...Hex[]]; data: Hex }[]
    >('eth_getLogs', {
      address: EXCHANGE,
      fromBlock: `0x${fromBlock.toString(16)}`,
      toBlock: `0x${toBlock.toString(16)}`,
    });
    return logs.flatMap(({ transactionHash, logIndex, blockNumber, topics: logTopics, data }) => {
      const decoded = (() => {
        try {
          return decodeEventLog({ abi, topics: logTopics, data });
        } catch {
          return null;
        }
      })();
      if (decoded === null) return [];
      const { maker, taker, makerAmountFilled, takerAmountFilled, orderHash } = decoded.args;
      return [
        {
          id: `${transactionHash}-${Number(logIndex)}`,
          block: Number(blockNumber),
          maker: maker.toLowerCase(),
          taker: taker.toLowerCase(),
          made: makerAmountFilled,
          took: takerAmountFilled,
          orderHash,
        },
      ];
    });
  }
  const fillOf = (event: AnyEvent) =>
    event.kind !== 'trade'
      ? []
      : [
          {
            id: event.value.id,
            block: event.value.block_number,
            maker: event.value.maker,
            taker: event.value.taker,
            made: event.value.maker_amount,
            took: event.value.taker_amount,
            orderHash: event.value.order_hash,
          },
        ];
  /** chain.head with its retractions applied. */
  async function heldHead() {
    let current: AnyEvent[] = [];
    for (const event of await head()) {
      if (event.kind !== 'retract') current.push(event);
      else {
        const retracted = new Set(event.value.block_hashes);
        current = current.filter(({ value }) => !('block_hash' in value) || !retracted.has(value.block_hash));
      }
    }
    return current;
  }
  async function expectHeadIsCanonical() {
    const current = await heldHead();
    const blocks = current.flatMap((event) => (event.kind === 'block' ? [event.value] : []));
    const first = blocks[0]!.block_number;
    const last = blocks.at(-1)!.block_number;
    expect(last).toBe(await tip());
    expect(blocks.map(({ block_number }) => block_number)).toEqual(
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    const onChain = await Promise.all(
      blocks.map(({ block_number }) =>
        anvil.rpc<{ hash: Hex }>('eth_getBlockByNumber', `0x${block_number.toString(16)}`, false),
      ),
    );
    expect(blocks.map(({ block_hash }) => block_hash)).toEqual(onChain.map(({ hash }) => hash));
    expect(current.flatMap(fillOf)).toEqual(await fillsOnChain(first, last));
  }

  it('loads a few hundred blocks of history up to the finalised block, every fill once and in order', async () => {
    for (let i = 0; i < 30; i += 1) {
      await send(await signMatch(1 + (i % 3)));
      await mine(1 + (i % 17));
    }
    const length = await tip();
    expect(length).toBeGreaterThan(200);
    ingest = startIngest();
    await until('history', async () => (ingest.status.current.phase === 'live' ? true : undefined));
    const final = await events(topics.chainFinal.name);
    const fills = await fillsOnChain(0, length - 2 * SLOTS);
    expect(fills.length).toBeGreaterThan(80);
    expect(final.flatMap(fillOf)).toEqual(fills);
    await headAt(length);
    expect(ingest.status.current).toMatchObject({ connected: true, head: length, finalized: length - 2 * SLOTS });
  });

  it('sends a settlement while it is pending, then its fills and the confirmation', async () => {
    const hash = await send(await signMatch(2));
    const { value: settlement } = await one('settlement', ({ tx_hash }) => tx_hash === hash);
    expect(await anvil.rpc('eth_getTransactionReceipt', hash)).toBeNull();
    expect(settlement).toMatchObject({ taker_wallet: wallet(0xa00), taker_token: '9001', taker_side: 'BUY' });
    await mine();
    const { value: status } = await one('status_update', ({ tx_hash }) => tx_hash === hash);
    const block = await tip();
    expect(status).toMatchObject({ block_number: block, taker_wallet: wallet(0xa00), token_id: '9001' });
    expect(status.latency_ms).toBe(status.confirmed_at_ms - status.pending_detected_at_ms);
    expect(status.pending_detected_at_ms).toBe(settlement.detected_at_ms);
    const fills = await fillsOnChain(block, block);
    expect(status.order_hashes).toEqual(fills.map(({ orderHash }) => orderHash));
    expect(status.confirmed_fills.map(({ taker }) => taker)).toEqual([wallet(0xa00), wallet(0xa00), EXCHANGE]);
    expect(status.maker_wallets).toEqual([wallet(0xa01), wallet(0xa02)]);
    // The hashes computed from calldata are those the contract computed.
    expect(settlement.trades.map(({ order_hash }) => order_hash)).toEqual(status.order_hashes);
    await expectHeadIsCanonical();
  });

  it('retracts reorganised blocks, sends the replacing ones and confirms the settlement again', async () => {
    const raw = await signMatch(1);
    const hash = await send(raw);
    await one('settlement', ({ tx_hash }) => tx_hash === hash);
    await mine(2);
    const before = await tip();
    await one('block', ({ block_number }) => block_number === before);
    const orphans = await Promise.all(
      [before - 1, before].map((number) =>
        anvil.rpc<{ hash: Hex }>('eth_getBlockByNumber', `0x${number.toString(16)}`, false),
      ),
    );
    await anvil.rpc('anvil_reorg', 2, [[raw, 1]]);
    const { value: retract } = await one('retract', ({ to_block }) => to_block === before);
    expect(retract).toMatchObject({ from_block: before - 1, block_hashes: orphans.map((orphan) => orphan.hash) });
    await one('status_update', ({ tx_hash, block_number }) => tx_hash === hash && block_number === before);
    await one('block', ({ block_number, block_hash }) => block_number === before && block_hash !== orphans[1]!.hash);
    await expectHeadIsCanonical();
    const kinds = (await head()).filter(({ value }) => 'tx_hash' in value && value.tx_hash === hash).map((e) => e.kind);
    expect(kinds).toEqual(['settlement', 'trade', 'trade', 'status_update', 'trade', 'trade', 'status_update']);
  });

  it('writes finalised blocks only', async () => {
    await mine(2 * SLOTS);
    const final = (await tip()) - 2 * SLOTS;
    await until('final', async () => {
      const last = await log.lastRecord(topics.chainFinal.name, 0);
      const event = codec.decode(last!.value!);
      return event.kind === 'block' && event.value.block_number === final ? true : undefined;
    });
    const written = await events(topics.chainFinal.name);
    expect(written.flatMap(fillOf)).toEqual(await fillsOnChain(0, final));
    const order = written.map(({ value }) => ('block_number' in value ? (value.block_number ?? -1) : -1));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('survives a restart of the node and fills the gap', async () => {
    proxy.interrupt();
    await until('disconnect', async () => (ingest.status.current.connected ? undefined : true));
    await anvil.stop();
    anvil = await startAnvil({ port, slots: SLOTS, stateFile: join(dir, 'state.json') });
    for (let i = 0; i < 10; i += 1) {
      await send(await signMatch(1));
      await mine(4);
    }
    proxy.resume();
    const length = await tip();
    await one('block', ({ block_number }) => block_number === length);
    expect(ingest.status.current.connected).toBe(true);
    await expectHeadIsCanonical();
  });

  it('resumes after its restart without repeating or losing events', async () => {
    const hash = await send(await signMatch(1));
    await one('settlement', ({ tx_hash }) => tx_hash === hash);
    await ingest.stop();
    await mine(3 * SLOTS);
    ingest = startIngest();
    await one('status_update', ({ tx_hash }) => tx_hash === hash);
    await one('block', ({ block_number }) => block_number > 0);
    const length = await tip();
    await one('block', ({ block_number }) => block_number === length);
    await expectHeadIsCanonical();
    const fills = await fillsOnChain(0, length - 2 * SLOTS);
    await until('final', async () => {
      const written = (await events(topics.chainFinal.name)).flatMap(fillOf);
      return written.length >= fills.length ? true : undefined;
    });
    expect((await events(topics.chainFinal.name)).flatMap(fillOf)).toEqual(fills);
    expect(await events(topics.deadLetters.name)).toEqual([]);
  });
});
