import type { Hex, RpcLog, SourceBlock } from '../source.js';
import { createBloomCheck } from './bloom.js';
import type { RpcClient } from './http-client.js';
import { RpcError } from './rpc-error.js';

/** Header fields that are used. */
export interface Header {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestampS: number;
  readonly txCount: number | null;
}

export interface LogFilter {
  readonly addresses: readonly Hex[];
  /**
   * Any of these is topic 0 of a log subscription, which only hints at new blocks. The logs of a block are requested by address alone, so
   * that no event is missed.
   */
  readonly topics: readonly Hex[];
  /** Logs of these contracts to drop on receipt. */
  readonly skips: (log: RpcLog) => boolean;
}

const HASH = /^0x[0-9a-f]{64}$/i;
const QUANTITY = /^0x[0-9a-f]+$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const DATA = /^0x(?:[0-9a-f]{2})*$/i;
const MAX_LOG_INDEX = 10_000_000;
const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);
const isHash = (value: unknown): value is Hex => typeof value === 'string' && HASH.test(value);

export const toHex = (value: number): Hex => `0x${value.toString(16)}`;
export const topicFilter = (filter: LogFilter) => ({ address: filter.addresses, topics: [filter.topics] });
export const addressFilter = (filter: LogFilter) => ({ address: filter.addresses });

/** One block per second for 300 years. */
const HIGHEST_BLOCK = 10_000_000_000;
/** Earlier than any supported chain. */
const EARLIEST_S = Date.UTC(2015, 0, 1) / 1000;
/** Maximum lead of a node's clock. */
const MAX_FUTURE_S = 900;

/** A number from `min` to `max`. Throws RpcError that names what is wrong. */
function quantity(value: unknown, what: string, max = HIGHEST_BLOCK, min = 0): number {
  const number = typeof value === 'string' && value.length <= 66 && QUANTITY.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new RpcError(`The node's ${what} is not a quantity`);
  if (number < min || number > max) throw new RpcError(`The node's ${what} ${number} is out of range`);
  return number;
}

/** Number of the block of a log of a subscription; null when the value is not such a log. */
export function hintedBlock(log: unknown): number | null {
  try {
    return quantity((log as { blockNumber?: unknown } | null)?.blockNumber, "log's block number");
  } catch {
    return null;
  }
}

function blockTime(value: unknown): number {
  return quantity(value, 'block timestamp', Math.floor(Date.now() / 1000) + MAX_FUTURE_S, EARLIEST_S);
}

/** Returns null for null (the node does not have the block). Throws RpcError when the value is not a header. */
export function parseHeader(value: unknown): Header | null {
  if (value === null) return null;
  const header = value as Record<string, unknown> | undefined;
  if (typeof header !== 'object' || !isHash(header.hash) || !isHash(header.parentHash)) {
    throw new RpcError('The node returned a value that is not a block header');
  }
  return {
    number: quantity(header.number, 'block number'),
    hash: header.hash.toLowerCase() as Hex,
    parentHash: header.parentHash.toLowerCase() as Hex,
    timestampS: blockTime(header.timestamp),
    txCount: Array.isArray(header.transactions) ? header.transactions.length : null,
  };
}

/** The header, or null for null. Throws RpcError when it is of another block than the requested one. */
export function parseHeaderOf(requested: Hex | number, value: unknown): Header | null {
  const header = parseHeader(value);
  if (header === null || header.hash === requested || header.number === requested) return header;
  throw new RpcError(`The node returned block ${header.number} (${header.hash}) instead of ${requested}`);
}

/**
 * Logs ascending by index with lower-case addresses, without removed logs and those that `skips` matches. Throws RpcError when the value is
 * not a list of logs, or has one twice.
 */
export function parseLogs(value: unknown, skips: LogFilter['skips']): RpcLog[] {
  if (!Array.isArray(value)) throw new RpcError('The node returned a value that is not a list of logs');
  const logs: RpcLog[] = [];
  for (const log of value as RpcLog[]) {
    if (!isHash(log?.blockHash)) throw new RpcError('The node returned a log without block hash');
    quantity(log.blockNumber, "log's block number");
    quantity(log.logIndex, 'log index', MAX_LOG_INDEX);
    if (log.removed === true) continue;
    checkContent(log);
    const normalized = lowerCased(log) ? log : { ...log, address: log.address.toLowerCase() as Hex };
    if (!skips(normalized)) logs.push(normalized);
  }
  logs.sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex));
  const twice = logs.find((log, i) => {
    const before = logs[i - 1];
    return Number(before?.blockNumber) === Number(log.blockNumber) && Number(before?.logIndex) === Number(log.logIndex);
  });
  if (twice !== undefined) throw new RpcError(`The node returned log ${Number(twice.logIndex)} of a block twice`);
  return logs;
}

function checkContent(log: RpcLog): void {
  const { address, topics, data, transactionHash } = log as Readonly<Record<keyof RpcLog, unknown>>;
  if (!isText(address, ADDRESS)) throw new RpcError('The node returned a log with an invalid address');
  if (!isHash(transactionHash)) throw new RpcError('The node returned a log without transaction hash');
  if (!Array.isArray(topics) || topics.length > 4 || !topics.every(isHash))
    throw new RpcError('The node returned a log with invalid topics');
  if (!isText(data, DATA)) throw new RpcError('The node returned a log with invalid data');
}

const lowerCased = (log: RpcLog): boolean => log.address === log.address.toLowerCase();

export function joinBlock(header: Header, logs: readonly RpcLog[]): SourceBlock {
  return { ...header, logs };
}

/** Reads complete blocks by hash or number. Logs are always requested by block hash, so that a reorganisation cannot mix two branches. */
export interface BlockReader {
  /** null: the node does not have the block (any more). */
  byHash(hash: Hex): Promise<SourceBlock | null>;
  byNumber(number: number): Promise<SourceBlock | null>;
  header(tag: 'latest' | 'finalized' | number): Promise<Header | null>;
  headers(numbers: readonly number[]): Promise<Header[]>;
  /** Headers of those of the blocks whose bloom filter admits logs of the contracts. */
  admitting(numbers: readonly number[]): Promise<Header[]>;
}

export function createBlockReader(deps: { client: RpcClient; filter: LogFilter }): BlockReader {
  const { client } = deps;
  const filter = addressFilter(deps.filter);
  const { skips } = deps.filter;
  const unwrap = (response: unknown): unknown => {
    if (response instanceof RpcError) throw response;
    return response;
  };
  const logsOf = (hash: Hex) => ({ method: 'eth_getLogs', params: [{ ...filter, blockHash: hash }] });
  const unknownBlock = (error: unknown): boolean =>
    error instanceof RpcError && /unknown block|block not found|header not found|not found/i.test(error.message);
  const admitsLogs = createBloomCheck(deps.filter.addresses);
  const blockOf = (header: Header, raw: unknown, logs: readonly RpcLog[]): SourceBlock => {
    for (const log of logs)
      if (log.blockHash.toLowerCase() !== header.hash || Number(log.blockNumber) !== header.number)
        throw new RpcError(`The node returned a log of another block than ${header.number} (${header.hash})`);
    const isSuspect = logs.length === 0 && admitsLogs((raw as { logsBloom?: unknown }).logsBloom);
    return { ...joinBlock(header, logs), ...(isSuspect && { logsMayBeMissing: true }) };
  };
  const tagOf = (tag: 'latest' | 'finalized' | number) => (typeof tag === 'number' ? toHex(tag) : tag);

  const byHash = async (hash: Hex): Promise<SourceBlock | null> => {
    const [block, logs] = await client.batch([{ method: 'eth_getBlockByHash', params: [hash, false] }, logsOf(hash)]);
    const header = parseHeaderOf(hash, unwrap(block));
    if (header === null || unknownBlock(logs)) return null;
    return blockOf(header, block, parseLogs(unwrap(logs), skips));
  };
  const rawHeader = (tag: 'latest' | 'finalized' | number) =>
    client.request('eth_getBlockByNumber', [tagOf(tag), false]);
  const headersOf = async (numbers: readonly number[], isWanted: (raw: unknown) => boolean): Promise<Header[]> => {
    const responses = await client.batch(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toHex(number), false] })),
    );
    return responses.flatMap((response, index) => {
      const found = parseHeaderOf(numbers[index]!, unwrap(response));
      if (found === null) throw new RpcError(`The node does not have block ${numbers[index]}`);
      return isWanted(response) ? [found] : [];
    });
  };

  return {
    byHash,
    async header(tag) {
      const raw = await rawHeader(tag);
      return typeof tag === 'number' ? parseHeaderOf(tag, raw) : parseHeader(raw);
    },
    async byNumber(number) {
      const raw = await rawHeader(number);
      const found = parseHeaderOf(number, raw);
      if (found === null) return null;
      try {
        const logs = await client.request('eth_getLogs', [{ ...filter, blockHash: found.hash }]);
        return blockOf(found, raw, parseLogs(logs, skips));
      } catch (error) {
        if (unknownBlock(error)) return null;
        throw error;
      }
    },
    headers: (numbers) => headersOf(numbers, () => true),
    admitting: (numbers) => headersOf(numbers, (raw) => admitsLogs((raw as { logsBloom?: unknown } | null)?.logsBloom)),
  };
}
