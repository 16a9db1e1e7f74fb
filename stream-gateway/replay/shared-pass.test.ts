import { expect, it } from 'vitest';
import { compileFilters } from '../filters/compile.js';
import { createMember, type Subscription } from '../hub/hub.js';
import type { Peer } from '../hub/peer.js';
import { isProtocolError, parseClientMessage } from '../protocol/messages.js';
import { liveEvent } from '../testing.js';
import type { History } from './history.js';
import { createRecentEvents } from './recent-events.js';
import { createReplay } from './replay.js';

function gate() {
  let open: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { open: () => open(), fail: (error: unknown) => fail(error), opened };
}

/** A replay from memory whose client reads `unread` events, then no more until `read` is called. */
function replayTo(unread: number) {
  const recent = createRecentEvents({ maxEvents: 100, maxBytes: 1_000_000 });
  const sent: number[] = [];
  const live: Subscription[] = [];
  const full = gate();
  const drained = gate();
  let reads = false;
  const peer = {
    closed: false,
    get backpressured() {
      return !reads && sent.length >= unread;
    },
    drained() {
      full.open();
      return drained.opened;
    },
    corked: (send: () => void) => send(),
    sendEvent: ({ seq }: { seq: number }) => sent.push(seq),
  } as unknown as Peer;
  const caughtUp = gate();
  const replay = createReplay({
    peer,
    recent,
    history: {} as History,
    live: () => live,
    idle: async () => undefined,
    onLive(subscription) {
      live.push(subscription);
      caughtUp.open();
    },
    onGap: () => undefined,
    onLost: (_subscriptions, error) => caughtUp.fail(error),
  });
  return {
    recent,
    replay,
    sent,
    peer,
    full: full.opened,
    caughtUp: caughtUp.opened,
    read() {
      reads = true;
      drained.open();
    },
  };
}

function subscription(peer: Peer, id: string, wallets: readonly string[], deliveredFrom: number): Subscription {
  const message = parseClientMessage(JSON.stringify({ action: 'subscribe', type: 'trades', filters: { wallets } }));
  if (isProtocolError(message) || message.action !== 'subscribe') throw new Error(JSON.stringify(message));
  const filter = compileFilters(message.preset, message.filters, { slugs: null, conditions: null });
  return { id, filter, member: createMember(peer), deliveredFrom, items: wallets.length, ends: null };
}

it('a filter changed in a pass that began before its since_seq gets no event up to that since_seq', async () => {
  const { recent, replay, sent, peer, full, caughtUp, read } = replayTo(3);
  const wallets = ['0xaa', '0xbb', '0xcc'];
  // 0xaa has 3, 6, ...; 0xbb has 1, 4, ...; 0xcc has 2, 5, ...
  for (let seq = 1; seq <= 40; seq++) recent.push(liveEvent(seq, { wallets: [wallets[seq % 3] as string] }));
  const second = subscription(peer, 'second', ['0xbb'], 25);
  replay.add(subscription(peer, 'first', ['0xaa'], 10));
  replay.add(second);
  await full;
  expect(sent).toEqual([12, 15, 18]);
  expect(replay.examinedSeqOf(second)).toBe(25);
  const continued = replay.replace(second, subscription(peer, 'second', ['0xbb', '0xcc'], 0));
  expect(continued?.deliveredFrom).toBe(25);
  read();
  await caughtUp;
  expect(sent).toEqual([12, 15, 18, 21, 24, ...Array.from({ length: 15 }, (_, at) => 26 + at)]);
});
