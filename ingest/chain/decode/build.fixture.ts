/** Builds logs and blocks in the node's shape for tests, with viem's encoder. */

import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import { type EventName, eventAbi } from '../event-abi.js';
import type { Hex, RpcLog, SourceBlock } from '../source.js';

const BLOCK_HASH: Hex = `0x${'b1'.repeat(32)}`;
export const TX: Hex = `0x${'7a'.repeat(32)}`;

export const abiOf = (event: EventName): AbiEvent => parseAbiItem(eventAbi[event].signature as string) as AbiEvent;

/** Topics and data of an event, arguments by ABI name. */
export function encodeEvent(event: EventName, args: Record<string, unknown>): { topics: Hex[]; data: Hex } {
  const abi = abiOf(event);
  const topics = encodeEventTopics({ abi: [abi], eventName: abi.name, args } as never) as Hex[];
  const plain = abi.inputs.filter((input) => !input.indexed);
  const data = encodeAbiParameters(
    plain,
    plain.map((input) => args[input.name ?? '']),
  );
  return { topics, data };
}

export interface LogSpec {
  readonly address: Hex;
  readonly event: EventName;
  readonly args: Record<string, unknown>;
  readonly tx?: Hex;
  readonly logIndex?: number;
}

export const rpcLog = (address: Hex, topics: readonly Hex[], data: Hex, logIndex: number, tx: Hex = TX): RpcLog => ({
  address,
  topics,
  data,
  blockNumber: '0x53ec60',
  blockHash: BLOCK_HASH,
  transactionHash: tx,
  transactionIndex: '0x0',
  logIndex: `0x${logIndex.toString(16)}`,
});

/** The log index is the array position unless given. */
export function buildLog(spec: LogSpec, position: number): RpcLog {
  const { topics, data } = encodeEvent(spec.event, spec.args);
  return rpcLog(spec.address, topics, data, spec.logIndex ?? position, spec.tx);
}

export const blockOf = (logs: readonly RpcLog[]): SourceBlock => ({
  number: 90_000_000,
  hash: BLOCK_HASH,
  parentHash: `0x${'a0'.repeat(32)}`,
  timestampS: 1_784_851_200,
  txCount: 77,
  logs,
});

export const buildBlock = (...specs: LogSpec[]): SourceBlock => blockOf(specs.map(buildLog));

/** Address that repeats one byte. */
export const wallet = (byte: string): Hex => `0x${byte.repeat(20)}`;
export const hash = (byte: string): Hex => `0x${byte.repeat(32)}`;
