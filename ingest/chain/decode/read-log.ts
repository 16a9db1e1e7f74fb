import { type Contract, contractAt, contracts, eventsOf } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import type { RpcLog } from '../source.js';
import { type ArgsOf, type DecodedName, logDecoders } from './log-decoders.js';

/** Decoded log of a watched contract; narrow on `event`. */
export type DecodedLog = {
  [N in DecodedName]: {
    readonly event: N;
    readonly contract: Contract;
    readonly args: ArgsOf<N>;
    readonly logIndex: number;
    readonly log: RpcLog;
  };
}[DecodedName];
export type DecodedLogOf<N extends DecodedName> = Extract<DecodedLog, { event: N }>;

/** Emitting address -> topic0 -> event. The address alone decides which layout a topic has. */
const routes: ReadonlyMap<string, ReadonlyMap<string, DecodedName>> = new Map(
  contracts.map((contract) => [
    contract.address,
    new Map(eventsOf(contract).map((name) => [eventAbi[name].topic0 as string, name as DecodedName])),
  ]),
);

export interface LogRoute {
  readonly contract: Contract;
  readonly event: DecodedName;
}

/** Contract and event of a log by address and first topic; null for contracts that are not watched and events that are not decoded. */
export function routeOf(log: RpcLog): LogRoute | null {
  const topic0 = Array.isArray(log.topics) ? (log as RpcLog).topics[0] : undefined;
  if (topic0 === undefined) return null;
  const event = routes.get(log.address)?.get(topic0);
  const contract = event === undefined ? undefined : contractAt(log.address);
  return contract === undefined || event === undefined ? null : { contract, event };
}

/** Decodes a routed log. Throws MalformedError. */
export function readLog(route: LogRoute, log: RpcLog, logIndex: number): DecodedLog {
  const args = logDecoders[route.event](log.topics, log.data);
  return { event: route.event, contract: route.contract, args, logIndex, log } as DecodedLog;
}
