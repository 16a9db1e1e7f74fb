import type { Encoding } from '../hub/native-topics.js';

/** Options in the address of a connection, of both sockets. */
export interface ConnectionOptions {
  readonly encoding: Encoding;
  /** Time between heartbeats; null: the server's. */
  readonly heartbeatMs: number | null;
  /** The client understands the frames caught_up, fell_behind and notice. */
  readonly notices: boolean;
}

const HEARTBEAT_INTERVAL_S = { min: 5, max: 60 } as const;

/** Parses the query of the address. Returns the message of an error for a value that is not allowed. `query` returns undefined for a parameter that is absent. */
export function parseConnectionOptions(query: (name: string) => string | undefined): ConnectionOptions | string {
  const interval = query('heartbeat_interval');
  const { min, max } = HEARTBEAT_INTERVAL_S;
  const seconds = interval !== undefined && /^\d{1,2}$/.test(interval) ? Number(interval) : Number.NaN;
  if (interval !== undefined && !(seconds >= min && seconds <= max)) {
    return `heartbeat_interval must be a whole number of seconds from ${min} to ${max}.`;
  }
  const notices = query('notices') ?? '0';
  if (notices !== '0' && notices !== '1') return 'notices must be 0 or 1.';
  const compress = query('compress')?.toLowerCase() ?? '';
  if (compress !== '' && compress !== 'zlib') return 'compress must be zlib, or absent for uncompressed frames.';
  return {
    encoding: compress === 'zlib' ? 'deflated' : 'text',
    heartbeatMs: interval === undefined ? null : seconds * 1000,
    notices: notices === '1',
  };
}
