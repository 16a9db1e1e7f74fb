import { batchFrames } from './batch-frames.js';
import { type BookPeer, dataFrame } from './book-peer.js';
import type { BookStore } from './book-store.js';
import type { FanOut, FirehoseReceiver, Receiver } from './fan-out.js';
import type { IntegrityTokens } from './integrity-tokens.js';
import { type SnapshotJob, startSnapshotJob } from './snapshot-job.js';
import type { TokenBook } from './token-book.js';
import { anchorText, type NamesOf, snapshotText } from './update-texts.js';

/** The tokens of one connection, and what was sent of them. */
export interface Subscription {
  /** Number of tokens; of a firehose, of all books. */
  readonly size: number;
  readonly firehose: boolean;
  /** Books of a resync or of a new subscription are being sent. */
  readonly sending: boolean;
  has(tokenId: string): boolean;
  /** Reserves checksums for a set of tokens that `replace` may follow; false if the process has no capacity. */
  reserve(tokenIds: readonly string[]): boolean;
  /** Ends what is subscribed and sends the books of the new tokens; updates of each begin after its book. */
  replace(tokenIds: readonly string[] | 'firehose'): void;
  /** Ends the tokens, or all. Returns their number. */
  remove(tokenIds: readonly string[] | null): number;
  /** Sends the books of the tokens, or of all, again; queued changes of theirs are dropped. */
  resync(tokenIds: readonly string[] | null): void;
  close(): void;
}

export function createSubscription(deps: {
  peer: BookPeer;
  integrity: boolean;
  store: BookStore;
  namesOf: NamesOf;
  fanOut: FanOut;
  integrityTokens: IntegrityTokens;
  nowMs: () => number;
  /** Called with the receiver that the fan-out names in errors. */
  onReceiver: (receiver: Receiver) => void;
}): Subscription {
  const { peer, integrity, store, namesOf, fanOut, integrityTokens } = deps;
  let tokens = new Set<string>();
  let firehose = false;
  let job: SnapshotJob | null = null;
  /** Tokens whose books the newest job has sent. The store may forget some before it is done. */
  let sent = new Set<string>();
  /** Tokens whose books the client has, and whose updates it misses until a job sends them again. */
  let interrupted = new Set<string>();
  /** Updates of the next batch. */
  let updates: string[] = [];
  const fresh = new Map<TokenBook, number>();
  /** Newest step of each token whose checksums are verified. */
  const steps = new Map<string, number>();
  const isSubscribed = (tokenId: string) => firehose || tokens.has(tokenId);

  const sendAnchor = (book: TokenBook) => {
    const seq = (steps.get(book.tokenId) ?? 0) + 1;
    steps.set(book.tokenId, seq);
    peer.sendData(dataFrame(anchorText(book, namesOf(book.tokenId), seq)));
  };
  const receiver: Receiver = {
    integrity,
    fresh,
    add: (update) => updates.push(update),
    addStep(tokenId, step) {
      const before = steps.get(tokenId);
      if (before === undefined) return;
      updates.push(step(before));
      steps.set(tokenId, before + 1);
    },
    sendAnchor,
    flush(nowMs) {
      const batch = updates;
      updates = [];
      fresh.clear();
      for (const frame of batchFrames(batch, nowMs)) peer.sendData(frame);
    },
  };
  deps.onReceiver(receiver);
  const firehoseReceiver: FirehoseReceiver = {
    send(frames) {
      for (const frame of frames) peer.sendData(frame);
    },
  };

  /** Sends books; with `goLive` the updates of their tokens follow. Returns the number of books sent. */
  const sendBooks = (tokenIds: readonly string[], sentBefore: number, goLive: boolean): number => {
    const texts: string[] = [];
    const emptied: string[] = [];
    let anchors = 0;
    for (const tokenId of tokenIds) {
      const missed = interrupted.delete(tokenId);
      if (!isSubscribed(tokenId)) continue;
      if (goLive) fanOut.add(receiver, tokenId);
      const book = store.get(tokenId);
      if (book === undefined || !book.hasBook) continue;
      // An empty book is left out, so what has made it empty must still be sent, or have been.
      if (!integrity && book.isEmpty && !missed) continue;
      fresh.set(book, book.version);
      if (integrity) {
        sendAnchor(book);
        anchors++;
      } else (book.isEmpty ? emptied : texts).push(snapshotText(book, namesOf(tokenId)));
    }
    if (texts.length > 0)
      peer.sendData(
        dataFrame(
          `{"type":"snapshot_batch","count":${texts.length},"total_sent":${sentBefore + texts.length},"snapshots":[${texts.join(',')}]}`,
        ),
      );
    for (const frame of batchFrames(emptied, deps.nowMs())) peer.sendData(frame);
    return texts.length + anchors;
  };

  /**
   * `firehoseAfter`: once the books of all tokens are sent, the connection gets the updates that all firehoses share. `known`: tokens whose updates it got until
   * now.
   */
  const start = (
    tokenIds: readonly string[],
    options: { resync: boolean; firehoseAfter: boolean; known: readonly string[] },
  ) => {
    let total = 0;
    let finished = false;
    sent = new Set();
    const send = (batch: readonly string[]) => {
      for (const tokenId of batch) sent.add(tokenId);
      total += sendBooks(batch, total, !firehose || options.firehoseAfter);
    };
    const started = startSnapshotJob({
      tokenIds,
      paused: () => peer.backpressured,
      send,
      done() {
        finished = true;
        if (options.firehoseAfter) {
          // Books that came meanwhile.
          send([...store.tokenIds()].filter((tokenId) => !sent.has(tokenId)));
          for (const tokenId of sent) fanOut.remove(receiver, tokenId);
          fresh.clear();
          fanOut.addFirehose(firehoseReceiver);
        }
        sent.clear();
        interrupted.clear();
        job = null;
        peer.sendControl({ type: 'snapshots_done', total, ...(options.resync ? { reason: 'resync' } : {}) });
      },
    });
    if (finished) return;
    job = started;
    for (const tokenId of options.known) if (!sent.has(tokenId)) interrupted.add(tokenId);
  };

  const stop = () => {
    job?.cancel();
    job = null;
    updates = [];
    fresh.clear();
    fanOut.removeFirehose(firehoseReceiver);
    for (const tokenId of firehose ? sent : tokens) fanOut.remove(receiver, tokenId);
  };
  const forgetSteps = (tokenIds: Iterable<string>) => {
    for (const tokenId of tokenIds) steps.delete(tokenId);
  };

  return {
    get size() {
      return firehose ? store.size : tokens.size;
    },
    get firehose() {
      return firehose;
    },
    get sending() {
      return job !== null;
    },
    has: isSubscribed,
    reserve: (tokenIds) => !integrity || integrityTokens.acquire(tokenIds.filter((tokenId) => !tokens.has(tokenId))),
    replace(next) {
      stop();
      const before = tokens;
      const hadAll = firehose;
      firehose = next === 'firehose';
      tokens = new Set(next === 'firehose' ? [] : next);
      const gone = [...before].filter((tokenId) => !tokens.has(tokenId));
      if (integrity) integrityTokens.release(gone);
      forgetSteps(gone);
      const list = next === 'firehose' ? [...store.tokenIds()] : next;
      const known = hadAll ? list : list.filter((tokenId) => before.has(tokenId));
      interrupted = new Set(known.filter((tokenId) => interrupted.has(tokenId)));
      start(list, { resync: false, firehoseAfter: firehose, known });
    },
    remove(tokenIds) {
      if (tokenIds === null) {
        const { size } = this;
        stop();
        if (integrity) integrityTokens.release(tokens);
        tokens = new Set();
        firehose = false;
        steps.clear();
        interrupted.clear();
        return size;
      }
      const gone = tokenIds.filter((tokenId) => tokens.delete(tokenId));
      for (const tokenId of gone) {
        fanOut.remove(receiver, tokenId);
        interrupted.delete(tokenId);
      }
      if (integrity) integrityTokens.release(gone);
      forgetSteps(gone);
      return gone.length;
    },
    resync(tokenIds) {
      if (firehose && tokenIds !== null) return start(tokenIds, { resync: true, firehoseAfter: false, known: [] });
      const list = tokenIds ?? [...(firehose ? store.tokenIds() : tokens)];
      fanOut.removeFirehose(firehoseReceiver);
      for (const tokenId of list) fanOut.remove(receiver, tokenId);
      start(list, { resync: true, firehoseAfter: firehose, known: list });
    },
    close() {
      stop();
      if (integrity) integrityTokens.release(tokens);
      tokens = new Set();
    },
  };
}
