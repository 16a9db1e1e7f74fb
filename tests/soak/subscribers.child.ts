import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Verdict } from './receipts.js';
import { startSubscriber } from './subscriber.js';
import { createSoakWorld, filtersOf } from './world.js';

/** Subscribers of the soak. Argument: JSON of SubscribersOptions. Messages: 'pause' requests the longest pause, 'verify' the comparison with the log. */
export interface SubscribersOptions {
  readonly address: string;
  readonly seed: number;
  readonly wallets: number;
  readonly log: string;
  readonly filtered: number;
  readonly slow: number;
}

export interface SubscriberTotals extends Verdict {
  readonly subscribers: number;
  readonly reconnects: number;
  /** Subscribers that had not reached the end of the stream in time. */
  readonly behind: number;
}

export type SubscribersMessage =
  | { readonly pauseMs: number }
  | {
      readonly verified: {
        readonly filtered: SubscriberTotals;
        readonly slow: SubscriberTotals;
        /** Events of kind trade in the stream, and their distinct transactions. */
        readonly trades: number;
        readonly transactions: number;
        readonly errors: readonly string[];
      };
    };

const CATCH_UP_MS = 180_000;
const SLOW = { readS: 10, pauseS: 40 } as const;

const options = JSON.parse(process.argv[2] ?? '{}') as SubscribersOptions;
const send = (message: SubscribersMessage) => process.send?.(message);
const world = createSoakWorld({ seed: options.seed, wallets: options.wallets, fillsPerBlock: 0, emptyBlocks: 0 });
const filtered = Array.from({ length: options.filtered }, (_, n) =>
  startSubscriber({ address: options.address, filters: filtersOf(world, options.seed, n), onSlow: 'close' }),
);
const slow = Array.from({ length: options.slow }, (_, n) =>
  startSubscriber({ address: options.address, filters: {}, onSlow: n % 2 === 0 ? 'skip' : 'close', slow: SLOW }),
);
const all = [...filtered, ...slow];

async function verify(): Promise<void> {
  for (const subscriber of slow) subscriber.catchUp();
  const log = await openLog(options.log, { logger: silentLogger(), maintenance: false });
  try {
    const codec = createCodec();
    const { name } = topics.streamEvents;
    const last = await log.lastRecord(name, 0);
    const lastEvent = last?.value == null ? null : codec.decode(last.value);
    const head = lastEvent?.kind === 'stream_event' ? lastEvent.value.seq : 0;
    const deadline = Date.now() + CATCH_UP_MS;
    while (Date.now() < deadline && all.some(({ position }) => position < head)) await sleep(200);

    const verifiers = all.map(({ receipts }) => receipts.verifier());
    const byToken = new Map<string, number[]>();
    const byWallet = new Map<string, number[]>();
    const unfiltered: number[] = [];
    for (const [n, { filters }] of all.entries()) {
      for (const token of filters.tokens ?? []) byToken.set(token, [...(byToken.get(token) ?? []), n]);
      for (const wallet of filters.wallets ?? []) byWallet.set(wallet, [...(byWallet.get(wallet) ?? []), n]);
      if (filters.tokens === undefined && filters.wallets === undefined) unfiltered.push(n);
    }
    let trades = 0;
    const transactions = new Set<string>();
    for await (const { records } of log.read({ topic: name, partition: 0, from: 'earliest', follow: false })) {
      for (const { value } of records) {
        const event = value === null ? null : codec.decode(value);
        if (event?.kind !== 'stream_event' || event.value.kind !== 'trade') continue;
        const { seq, frame, tokens, wallets, tx_hash } = event.value;
        trades += 1;
        if (tx_hash !== null) transactions.add(tx_hash);
        const receivers = new Set(unfiltered);
        for (const token of tokens) for (const n of byToken.get(token) ?? []) receivers.add(n);
        for (const wallet of wallets) for (const n of byWallet.get(wallet) ?? []) receivers.add(n);
        for (const n of receivers) verifiers[n]?.expect({ seq, frame });
      }
    }
    const totals = (from: number, to: number): SubscriberTotals => {
      const chosen = all.slice(from, to);
      const verdicts = verifiers.slice(from, to).map((verifier) => verifier.finish());
      const sum = (of: keyof Verdict) => verdicts.reduce((total, verdict) => total + verdict[of], 0);
      return {
        subscribers: chosen.length,
        reconnects: chosen.reduce((total, { reconnects }) => total + reconnects, 0),
        behind: chosen.filter(({ position }) => position < head).length,
        delivered: sum('delivered'),
        lost: sum('lost'),
        doubled: sum('doubled'),
        outOfOrder: sum('outOfOrder'),
        unexpected: sum('unexpected'),
        different: sum('different'),
        skipped: sum('skipped'),
      };
    };
    const errors = [...new Set(all.flatMap((subscriber) => subscriber.errors))].slice(0, 5);
    send({
      verified: {
        filtered: totals(0, filtered.length),
        slow: totals(filtered.length, all.length),
        ...{ trades, transactions: transactions.size, errors },
      },
    });
  } finally {
    await log.close();
  }
  for (const subscriber of all) subscriber.stop();
}

process.on('message', (message) => {
  if (message === 'pause') send({ pauseMs: Math.max(0, ...filtered.map((one) => one.takeLongestPauseMs())) });
  if (message === 'verify') void verify();
});
process.on('disconnect', () => process.exit(0));
