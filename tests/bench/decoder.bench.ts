import { type AbiEvent, decodeEventLog, encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import { addresses } from '../../ingest/chain/contracts.js';
import { decodeBlock } from '../../ingest/chain/decode/block.js';
import { logDecoders } from '../../ingest/chain/decode/log-decoders.js';
import { eventAbi } from '../../ingest/chain/event-abi.js';
import type { Hex, RpcLog, SourceBlock } from '../../ingest/chain/source.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';
import { copiedBytesPerSecond } from './report/probes.js';

const RUNS = 9;
const LOGS = 4_000;
/** Passes of the hand-written decoder per pass of viem, so that both run long enough to be timed. */
const ROUNDS = 10;

/** Hand-written fill decoder compared with viem's decodeEventLog on the same logs in the same run: medians of 9 after a warm-up. */
export async function run(): Promise<readonly Figure[]> {
  const copied = copiedBytesPerSecond();
  const figures: Figure[] = [];
  const rows: Record<string, string>[] = [];
  for (const event of ['orderFilledV2', 'orderFilledV1'] as const) {
    const abi = parseAbiItem(eventAbi[event].signature as string) as AbiEvent;
    const logs = fills(abi, event === 'orderFilledV1' ? addresses.exchangeV1 : addresses.exchangeV2);
    const decode = logDecoders[event];
    const reference = [abi];
    let sink: unknown;
    const byHand = (rounds: number) => () => {
      for (let round = 0; round < rounds; round++) for (const log of logs) sink = decode(log.topics, log.data);
    };
    const byViem = () => {
      for (const log of logs) {
        sink = decodeEventLog({ abi: reference, topics: log.topics as [Hex, ...Hex[]], data: log.data });
      }
    };
    const blocks = inBlocks(logs, 100);
    const toEvents = () => {
      for (let round = 0; round < ROUNDS; round++) for (const block of blocks) sink = decodeBlock(block).events.length;
    };
    const times = { hand: [] as number[], twice: [] as number[], viem: [] as number[], events: [] as number[] };
    for (let i = -2; i < RUNS; i++) {
      const hand = (ROUNDS * LOGS) / seconds(byHand(ROUNDS));
      const twice = (2 * ROUNDS * LOGS) / seconds(byHand(2 * ROUNDS));
      const viem = LOGS / seconds(byViem);
      const events = (ROUNDS * LOGS) / seconds(toEvents);
      if (i < 0) continue;
      times.hand.push(hand);
      times.twice.push(twice);
      times.viem.push(viem);
      times.events.push(events);
    }
    if (sink === undefined) throw new Error('nothing was decoded');
    const viem = median(times.viem);
    const line = (decoder: string, rate: number) => ({
      event,
      decoder,
      'per second': Math.round(rate).toLocaleString('en'),
      'times viem': (rate / viem).toFixed(1),
    });
    rows.push(line('viem decodeEventLog', viem));
    rows.push(line('hand-written decoder', median(times.hand)));
    rows.push(line('decodeBlock, logs to events', median(times.events)));
    const bytes = logs.reduce((sum, { topics, data }) => sum + topics.join('').length + data.length, 0) / LOGS;
    const baseline = { name: 'viem decodeEventLog', values: times.viem };
    const limit = { name: 'copy of the same bytes in memory', value: copied / bytes };
    figures.push(
      {
        name: `${event}, decoder`,
        unit: 'logs/s',
        better: 'more',
        values: times.hand,
        baseline,
        limit,
        twice: { work: `${(2 * ROUNDS * LOGS).toLocaleString('en')} logs`, values: times.twice },
      },
      { name: `${event}, logs to events`, unit: 'logs/s', better: 'more', values: times.events, baseline, limit },
      {
        name: `${event}, logs to events`,
        unit: `${PER_MILLION} logs`,
        better: 'less',
        values: times.events.map((rate) => 1e6 / rate),
        baseline: { name: baseline.name, values: times.viem.map((rate) => 1e6 / rate) },
      },
    );
  }
  console.table(rows);
  return figures;
}

const seconds = (work: () => void): number => {
  const started = performance.now();
  work();
  return (performance.now() - started) / 1000;
};

/** Distinct fills; each token is traded 20 times. */
function fills(abi: AbiEvent, address: Hex): RpcLog[] {
  const hex = (n: number, bytes: number): Hex =>
    `0x${(BigInt(n + 1) * 0x9e3779b97f4a7c15n).toString(16).padStart(bytes * 2, 'ab')}`;
  const logs = Array.from({ length: LOGS }, (_, i) => {
    const token = BigInt(hex(i % 200, 32));
    const args: Record<string, unknown> = {
      orderHash: hex(i, 32),
      maker: hex(i % 4000, 20),
      taker: hex(i % 999, 20),
      side: i & 1,
      tokenId: token,
      makerAssetId: i & 1 ? 0n : token,
      takerAssetId: i & 1 ? token : 0n,
      makerAmountFilled: BigInt(i * 7919 + 1_000_000),
      takerAmountFilled: BigInt(i * 104_729 + 1_000_000),
      fee: BigInt(i),
      builder: hex(i % 7, 32),
      metadata: hex(0, 32),
    };
    const plain = abi.inputs.filter((input) => !input.indexed);
    return {
      address,
      topics: encodeEventTopics({ abi: [abi], eventName: abi.name, args } as never),
      data: encodeAbiParameters(
        plain,
        plain.map((input) => args[input.name ?? '']),
      ),
      blockNumber: '0x5683395',
      blockHash: hex(5, 32),
      transactionHash: hex(Math.floor(i / 3), 32),
      transactionIndex: '0x1',
      logIndex: `0x${(i % 100).toString(16)}`,
    };
  });
  // The strings must be flat like those parsed from a node's response, not ropes concatenated in memory.
  return JSON.parse(JSON.stringify(logs)) as RpcLog[];
}

function inBlocks(logs: readonly RpcLog[], size: number): SourceBlock[] {
  const blocks: SourceBlock[] = [];
  for (let i = 0; i < logs.length; i += size) {
    const blockLogs = logs.slice(i, i + size);
    const { blockHash } = blockLogs[0]!;
    blocks.push({ number: i, hash: blockHash, parentHash: blockHash, timestampS: 1, txCount: null, logs: blockLogs });
  }
  return blocks;
}
