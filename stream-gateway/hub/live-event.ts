import { deflateRawSync } from 'node:zlib';
import type { LogRecord } from '../../infra/log/port.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { channelOf } from '../filters/channel.js';
import type { FilterableEvent } from '../filters/compile.js';

/** Frames are 0.3 to 5 kB, so an 8 kB window covers a whole frame and costs less to set up. Clients can inflate any window size. */
const DEFLATE = { windowBits: 13, memLevel: 6 } as const;
/** Estimated memory of an event without its frame. */
const OVERHEAD_BYTES = 900;

/** One event of the stream: the fields that filters test, and its frame in each encoding, encoded once for all receivers. */
export class LiveEvent implements FilterableEvent {
  readonly seq: number;
  readonly kind: string;
  readonly channel: string;
  readonly timestamp_ms: number;
  readonly confirmed: boolean;
  readonly wallets: readonly string[];
  readonly tokens: readonly string[];
  readonly condition_ids: readonly string[];
  readonly slugs: readonly string[];
  readonly block_number: number | null;
  readonly side: string | null;
  readonly usd: bigint | null;
  readonly feed: string | null;
  readonly twap_window_s: number | null;
  readonly combo: StreamEvent['combo'];
  /** UTF-8 JSON. */
  readonly frame: Buffer;
  #deflated: Buffer | null = null;

  constructor(event: StreamEvent) {
    this.seq = event.seq;
    this.kind = event.kind;
    this.channel = channelOf(event.kind, event.twap_window_s);
    this.timestamp_ms = event.timestamp_ms;
    this.confirmed = event.confirmed;
    this.wallets = event.wallets;
    this.tokens = event.tokens;
    this.condition_ids = event.condition_ids;
    this.slugs = event.slugs;
    this.block_number = event.block_number;
    this.side = event.side;
    this.usd = event.usd;
    this.feed = event.feed;
    this.twap_window_s = event.twap_window_s;
    this.combo = event.combo;
    this.frame = Buffer.from(event.frame);
  }

  /** The frame as one complete raw DEFLATE stream (RFC 1951); computed on first use. */
  get deflated(): Buffer {
    this.#deflated ??= deflateRawSync(this.frame, DEFLATE);
    return this.#deflated;
  }

  /** Estimated memory of the event. */
  get memoryBytes(): number {
    return this.frame.length + OVERHEAD_BYTES;
  }
}

/** Decodes a record of stream.events. Returns null for a tombstone, and for an undecodable record after a call of `onUnreadableEvent`. */
export function decodeLiveEvent(
  codec: Codec,
  record: LogRecord,
  onUnreadableEvent: (reason: string) => void,
): LiveEvent | null {
  if (record.value === null) return null;
  try {
    const decoded = codec.decode(record.value);
    if (decoded.kind === 'stream_event') return new LiveEvent(decoded.value);
    onUnreadableEvent(`unexpected ${decoded.kind}`);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    onUnreadableEvent(error.message);
  }
  return null;
}
