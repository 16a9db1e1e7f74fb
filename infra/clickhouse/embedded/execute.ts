import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { SINGLE_CHUNK_MAX_ROWS } from '../rows.js';
import { notReadOnly } from './analyst-rules.js';
import type { Engine, EngineSession } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import type { NativeResult } from './native.js';
import type { Reply, Summary } from './reply.js';
import type { QueryRequest } from './request.js';
import type { Spool } from './spool.js';
import { quoteString } from './sql-text.js';
import { keywordOf, readStatement, type Statement } from './statement.js';

/** Results up to this size are buffered until the query has ended, so that an error can still set the HTTP status and the summary is complete. */
const REPLY_BUFFER_BYTES = 64 * 1024;
/** Default of the setting max_query_size, as in a ClickHouse server. */
const MAX_QUERY_BYTES = 256 * 1024;
const SYNTAX_ERROR = 62;
const MAX_BODY_QUERY_BYTES = 16 * 1024 * 1024;

export interface PreparedQuery {
  readonly statement: Statement;
  /** The spool file with the rows of an INSERT. */
  readonly data: { readonly path: string; readonly bytes: number } | undefined;
}

/**
 * Reads the SQL from URL and body. Rows of an INSERT are written to a spool file as they arrive and never become a string; other statements
 * are text. No engine session or permit is used while a slow client still sends. Throws ServerException.
 */
export async function prepare(
  request: Pick<QueryRequest, 'sql' | 'settings' | 'identity'>,
  body: AsyncIterable<Buffer>,
  spool: Spool,
): Promise<PreparedQuery> {
  const isAnalyst = request.identity.role === 'analyst';
  const largest = isAnalyst ? MAX_QUERY_BYTES : MAX_BODY_QUERY_BYTES;
  const limit = Math.min(Number(request.settings.max_query_size) || MAX_QUERY_BYTES, largest);
  let pieces: Buffer[] = [Buffer.from(request.sql === '' ? '' : `${request.sql}\n`, 'utf8')];
  let bytes = pieces[0]!.length;
  const iterator = body[Symbol.asyncIterator]();
  // The statement is parsed again only when the text has doubled, so that a body in many small chunks is not parsed once per chunk.
  let readAtBytes = 0;
  for (;;) {
    const next = await iterator.next();
    if (next.done !== true) {
      pieces.push(next.value);
      bytes += next.value.length;
      if (bytes < readAtBytes && bytes <= limit) continue;
    }
    readAtBytes = bytes * 2;
    const head = Buffer.concat(pieces);
    pieces = [head];
    const statement = readStatement(head.toString('latin1', 0, limit), next.done === true && head.length <= limit);
    if (isAnalyst && statement !== undefined && statement.kind !== 'select' && statement.kind !== 'show') {
      throw notReadOnly(keywordOf(statement));
    }
    if (statement === undefined) {
      if (head.length <= limit) continue;
      const text = `Max query size exceeded (${limit} bytes; rows of an INSERT go after FORMAT or VALUES).`;
      throw new ServerException(62, 'SYNTAX_ERROR', `Syntax error: failed at position ${limit}: ${text}`);
    }
    if (statement.kind !== 'insert') return { statement: decodeStatement(statement), data: undefined };
    const more = next.done === true ? next : await iterator.next();
    return {
      statement: decodeStatement(statement),
      data: await spool.write(
        head.subarray(statement.dataAt),
        more.done === true ? undefined : prependChunk(more.value, iterator),
      ),
    };
  }
}

async function* prependChunk(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Decodes statement texts, which `readStatement` returns as the latin1 view of bytes, from UTF-8. */
function decodeStatement(statement: Statement): Statement {
  const text = (latin1: string): string => {
    const bytes = Buffer.from(latin1, 'latin1');
    if (!isUtf8(bytes)) throw new ServerException(36, 'BAD_ARGUMENTS', 'The text of a query must be UTF-8.');
    return bytes.toString('utf8');
  };
  switch (statement.kind) {
    case 'insert':
      return {
        ...statement,
        head: text(statement.head),
        settings: text(statement.settings),
        format: text(statement.format),
      };
    case 'command':
      return { ...statement, text: text(statement.text) };
    default:
      return { ...statement, text: text(statement.text), body: text(statement.body), tail: text(statement.tail) };
  }
}

export interface ExecuteContext {
  readonly engine: Engine;
  readonly spool: Spool;
  readonly session: EngineSession;
  /** Statements that apply this request's database, settings and parameters to the session. */
  readonly prelude: string;
  /** Index of this query's pipe in the spool. */
  readonly pipeIndex: number;
  /** Bytes of formatted result that may go to a file; undefined: no bound. */
  readonly maxResultBytes: number | undefined;
  readonly request: QueryRequest;
  readonly reply: Reply;
  /** Called when the engine has finished, before a result is sent from a file. */
  readonly engineDone: () => void;
}

/** Runs one prepared query on its session and sends the response. Throws ServerException, before or after the response has started. */
export async function execute(context: ExecuteContext, query: PreparedQuery): Promise<Summary> {
  const { statement, data } = query;
  if (statement.kind === 'insert') return runInsert(context, statement, data!);
  if (statement.kind === 'select') return runSelect(context, statement);
  return runCommandStatement(context, statement);
}

/** Runs the client's unchanged text and sends the result that the engine returns in memory. */
async function runCommandStatement(
  context: ExecuteContext,
  statement: Exclude<Statement, { kind: 'insert' }>,
): Promise<Summary> {
  const { session, request, reply } = context;
  await runPrelude(context);
  const result = await session.run(statement.text, request.defaultFormat).catch((error) => {
    throw parseEngineError(error);
  });
  const format = (statement.kind === 'command' ? undefined : statement.format) ?? request.defaultFormat;
  const summary = summaryOf(result, statement.kind === 'command' && statement.keyword === 'INSERT');
  startReply(context, format, summary);
  await reply.end(result.bytes);
  return summary;
}

async function runPrelude(context: ExecuteContext): Promise<void> {
  if (context.prelude === '') return;
  await context.session.run(context.prelude).catch((error) => {
    throw parseEngineError(error);
  });
}

async function runInsert(
  context: ExecuteContext,
  statement: Extract<Statement, { kind: 'insert' }>,
  data: { readonly path: string },
): Promise<Summary> {
  const source = ` FROM INFILE ${quoteString(data.path)} COMPRESSION 'none' `;
  const sql = `${statement.head.trimEnd()}${source}${statement.settings} FORMAT ${statement.format}`;
  await runPrelude(context);
  const result = await context.session.run(sql).catch((error) => {
    throw parseEngineError(error, [source, data.path]);
  });
  const summary = summaryOf(result, true);
  startReply(context, statement.format, summary);
  await context.reply.end();
  return summary;
}

async function runSelect(
  context: ExecuteContext,
  statement: Extract<Statement, { kind: 'select' | 'show' }>,
): Promise<Summary> {
  const { session, prelude, spool, pipeIndex, maxResultBytes, request, reply } = context;
  const format = statement.format ?? request.defaultFormat;
  if (!/^[A-Za-z0-9_]+$/.test(format)) throw new ServerException(73, 'UNKNOWN_FORMAT', `Unknown format ${format}`);
  if (isSmallResult(request)) {
    const result = await session.run(`${prelude}${statement.body}\n${statement.tail}`, format).catch((error) => {
      const exception = parseEngineError(error);
      if (exception.code === SYNTAX_ERROR) return undefined;
      throw exception;
    });
    // Run the unchanged text, so that the parser's error quotes what the client sent.
    if (result === undefined) return runCommandStatement(context, statement);
    const summary = summaryOf(result, false);
    startReply(context, format, summary);
    await reply.end(result.bytes);
    return summary;
  }
  const run = (path: string): Promise<NativeResult> => {
    const target = `\nINTO OUTFILE ${quoteString(path)} TRUNCATE COMPRESSION 'none' FORMAT ${format}`;
    return session.run(`${prelude}${statement.body}${target}${statement.tail}`, format).catch((error) => {
      throw parseEngineError(error, [target, target.trimStart(), path]);
    });
  };
  /** As `run`, with a bound on the bytes that reach the file. */
  const runThroughPipe = async (path: string, maxBytes: number): Promise<NativeResult> => {
    const pipe = spool.pipe(pipeIndex);
    const finished = run(pipe.path).finally(pipe.engineDone);
    const [copied, result] = await Promise.allSettled([spool.copy(pipe, path, maxBytes), finished]);
    if (copied.status === 'rejected') throw copied.reason;
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  };
  if (request.waitEndOfQuery) {
    const path = spool.newPath();
    try {
      const toFile = maxResultBytes === undefined ? run(path) : runThroughPipe(path, maxResultBytes);
      const result = await toFile.catch((error: ServerException) => {
        // An analyst's statement has already been parsed: this error arose while it ran.
        if (error.code === SYNTAX_ERROR && request.identity.role === 'owner') return undefined;
        throw error;
      });
      if (result === undefined) return await runCommandStatement(context, statement);
      context.engineDone();
      const summary = summaryOf(result, false);
      startReply(context, format, summary);
      for await (const chunk of createReadStream(path)) {
        if (reply.clientGone) break;
        await reply.write(chunk as Buffer);
      }
      await reply.end();
      return summary;
    } finally {
      await spool.remove(path);
    }
  }
  const pipe = spool.pipe(pipeIndex);
  const outcome = run(pipe.path).then(
    (result) => ({ result, error: undefined }),
    (error: ServerException) => ({ result: undefined, error }),
  );
  void outcome.then(pipe.engineDone);
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  try {
    for await (const chunk of pipe.stream as AsyncIterable<Buffer>) {
      // Without a reader the engine's next write fails, which ends the query.
      if (reply.clientGone) break;
      if (reply.started) await reply.write(chunk);
      else {
        buffered.push(chunk);
        bufferedBytes += chunk.length;
        if (bufferedBytes < REPLY_BUFFER_BYTES) continue;
        startReply(context, format, undefined);
        for (const bufferedChunk of buffered) await reply.write(bufferedChunk);
        buffered = [];
      }
    }
  } finally {
    pipe.stream.destroy();
    await outcome;
  }
  const { result, error } = await outcome;
  // Run the unchanged text, so that the parser's error quotes what the client sent.
  if (error?.code === SYNTAX_ERROR && bufferedBytes === 0) return runCommandStatement(context, statement);
  if (error !== undefined) throw error;
  const summary = summaryOf(result, false);
  if (!reply.started) startReply(context, format, summary);
  await reply.end(Buffer.concat(buffered));
  return summary;
}

/**
 * Whether the engine may return the result in memory. The transfer through a pipe costs as much as reading some hundred rows. Analysts' rows
 * may be large, so their results never are small.
 */
function isSmallResult({ settings, identity }: QueryRequest): boolean {
  if (identity.role === 'analyst') return false;
  const rows = Number(settings.max_result_rows);
  return rows >= 1 && rows <= SINGLE_CHUNK_MAX_ROWS;
}

function startReply(context: ExecuteContext, format: string, summary: Summary | undefined): void {
  context.reply.start({
    queryId: context.request.queryId,
    format,
    contentType: context.engine.contentTypes.get(format) ?? 'text/plain; charset=UTF-8',
    summary,
    compression: context.request.compression,
  });
}

function summaryOf(result: NativeResult, written: boolean): Summary {
  const { rowsRead: rows, bytesRead: bytes } = result;
  return {
    readRows: rows,
    readBytes: bytes,
    writtenRows: written ? rows : 0,
    writtenBytes: written ? bytes : 0,
    resultRows: rows,
    resultBytes: bytes,
    elapsedNs: Math.round(result.elapsed * 1e9),
  };
}
