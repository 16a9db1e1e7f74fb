import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import { httpStatusOf, type ServerException } from './errors.js';

const SEND_TIMEOUT_MS = 180_000;

/** Statistics of a query for the header X-ClickHouse-Summary. The engine reports rows and bytes of the result only, so read and result counts are equal. */
export interface Summary {
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
  readonly resultRows: number;
  readonly resultBytes: number;
  readonly elapsedNs: number;
}

export interface ReplyHead {
  readonly queryId: string;
  readonly format: string;
  readonly contentType: string;
  readonly summary: Summary | undefined;
  readonly compression: 'gzip' | 'deflate' | 'br' | undefined;
}

/** One HTTP response in the format of a ClickHouse server. */
export interface Reply {
  readonly started: boolean;
  /** Whether the client has closed the connection. */
  readonly clientGone: boolean;
  /** Headers that do not depend on the outcome. */
  setHeader(name: string, value: string): void;
  start(head: ReplyHead): void;
  /** Resolves when the client can take more. */
  write(chunk: Uint8Array): Promise<void>;
  /** Sends the last bytes, if any; resolves when they are handed to the socket or the client has disconnected. */
  end(last?: Uint8Array): Promise<void>;
  /**
   * Before the first byte: sends status, code header and text. Later: sends the tagged exception block after the rows and closes the
   * connection, because the status has already been sent.
   */
  fail(error: ServerException): Promise<void>;
}

function summaryHeader(summary: Summary | undefined): string {
  const entries = {
    read_rows: summary?.readRows,
    read_bytes: summary?.readBytes,
    written_rows: summary?.writtenRows,
    written_bytes: summary?.writtenBytes,
    total_rows_to_read: 0,
    result_rows: summary?.resultRows,
    result_bytes: summary?.resultBytes,
    elapsed_ns: summary?.elapsedNs,
  };
  return JSON.stringify(Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, String(value ?? 0)])));
}

export function createReply(
  response: ServerResponse,
  options: { version: string; displayName: string; sendTimeoutMs?: number },
): Reply {
  const { sendTimeoutMs = SEND_TIMEOUT_MS } = options;
  let encoder: Transform | undefined;
  let tag = '';
  let started = false;
  response.setHeader('X-ClickHouse-Server-Display-Name', options.displayName);
  response.setHeader('X-ClickHouse-Timezone', 'UTC');

  const sink = () => encoder ?? response;
  async function put(chunk: Uint8Array): Promise<void> {
    const stream = sink();
    if (response.destroyed || stream.write(chunk)) return;
    // A client that reads nothing for this long must not keep a session of the engine.
    const stalled = setTimeout(() => response.destroy(), sendTimeoutMs);
    const done = new AbortController();
    await Promise.race([
      once(stream, 'drain', { signal: done.signal }),
      once(response, 'close', { signal: done.signal }),
    ]).finally(() => {
      clearTimeout(stalled);
      done.abort();
    });
  }
  async function finish(last?: Uint8Array): Promise<void> {
    if (response.destroyed) return;
    const closed = once(response, 'close');
    const finished = once(response, 'finish');
    if (last === undefined || last.length === 0) sink().end();
    else sink().end(last);
    const stalled = setTimeout(() => response.destroy(), sendTimeoutMs);
    await Promise.race([finished, closed]).finally(() => clearTimeout(stalled));
  }

  return {
    get started() {
      return started;
    },
    get clientGone() {
      return response.destroyed;
    },
    setHeader: (name, value) => {
      response.setHeader(name, value);
    },
    start: (head) => {
      tag = randomBytes(8).toString('hex');
      response.statusCode = 200;
      response.setHeader('Content-Type', head.contentType);
      response.setHeader('X-ClickHouse-Query-Id', head.queryId);
      response.setHeader('X-ClickHouse-Format', head.format);
      response.setHeader('X-ClickHouse-Exception-Tag', tag);
      response.setHeader('X-ClickHouse-Summary', summaryHeader(head.summary));
      started = true;
      if (head.compression === undefined) return;
      response.setHeader('Content-Encoding', head.compression);
      encoder =
        head.compression === 'gzip'
          ? createGzip({ level: 3 })
          : head.compression === 'deflate'
            ? createDeflate({ level: 3 })
            : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 3 } });
      encoder.pipe(response);
      response.once('close', () => encoder?.destroy());
      encoder.on('error', () => response.destroy());
    },
    write: put,
    end: (last) => finish(last),
    fail: async (error) => {
      const text = `${error.message} (version ${options.version})`;
      if (!started) {
        response.statusCode = httpStatusOf(error.code);
        response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
        response.setHeader('X-ClickHouse-Exception-Code', String(error.code));
        if (response.statusCode === 401)
          response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse server HTTP API"');
        return finish(Buffer.from(`${text}\n`));
      }
      const message = Buffer.from(`${text}\n`);
      const block = Buffer.concat([
        Buffer.from(`\r\n__exception__\r\n${tag}\r\n`),
        message,
        Buffer.from(`${message.length} ${tag}\r\n__exception__\r\n`),
      ]);
      await put(block);
      const { socket } = response;
      if (encoder !== undefined) {
        await new Promise<void>((resolve) => (encoder as Transform & { flush(done: () => void): void }).flush(resolve));
      }
      // The chunked body ends without its last chunk, so that no client takes the rows for a complete result.
      if (socket !== null && !socket.destroyed) socket.end(() => socket.destroy());
    },
  };
}
