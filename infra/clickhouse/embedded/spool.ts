import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServerException } from './errors.js';

/** A named pipe that carries the result of one query from the engine to this process. */
export interface OutputPipe {
  readonly path: string;
  readonly stream: Socket;
  /** Call it when the engine has finished with the pipe: the stream ends after the bytes that are still in it. */
  engineDone(): void;
}

/** Files and pipes between the engine and the sockets, in a directory that is emptied at start. */
export interface Spool {
  /** Writes rows to a file for `FROM INFILE`. The caller removes it. */
  write(
    head: Uint8Array,
    rest: AsyncIterable<Uint8Array> | undefined,
  ): Promise<{ readonly path: string; readonly bytes: number }>;
  /** A new path for a file that the engine will write. */
  newPath(): string;
  remove(path: string): Promise<void>;
  pipe(index: number): OutputPipe;
  /** Copies what the engine writes to a pipe into a file. Stops reading after `maxBytes` and throws code 396; the engine then gives up the query. */
  copy(pipe: OutputPipe, path: string, maxBytes: number): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** What a statement gets for an error of writing its rows: a full disk is the engine's own error for it, so that the client tries again. */
function explainWriteError(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new ServerException(243, 'NOT_ENOUGH_SPACE', 'The disk is full: the rows of the INSERT cannot be stored.')
    : error;
}

/** Recreates the directory with one named pipe per concurrent query: `INTO OUTFILE` into a pipe streams every format at bounded memory. */
export async function openSpool(directory: string, pipes: number, largestInsertBytes: number): Promise<Spool> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const pipePath = (index: number) => join(directory, `out-${index}`);
  try {
    await run('mkfifo', ['-m', '600', ...Array.from({ length: pipes }, (_, i) => pipePath(i))]);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw missing
      ? new Error(
          'The embedded ClickHouse needs the command mkfifo, which is not on PATH: install coreutils or busybox',
          {
            cause: error,
          },
        )
      : error;
  }
  let counter = 0;
  const newPath = () => {
    counter += 1;
    return join(directory, `spool-${counter}`);
  };
  /** Writes `head` and what follows; returns the bytes of the latter. */
  const append = async (path: string, head: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<number> => {
    let bytes = 0;
    const file = await open(path, 'w', 0o600);
    try {
      if (head.length > 0) await file.writeFile(head);
      for await (const chunk of rest) {
        bytes += chunk.length;
        if (head.length + bytes > largestInsertBytes) {
          const text = `Rows of one INSERT may have ${largestInsertBytes} bytes. Send them in several statements.`;
          throw new ServerException(307, 'TOO_MANY_BYTES', text);
        }
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    return bytes;
  };
  return {
    newPath,
    write: async (head, rest) => {
      const path = newPath();
      let bytes = head.length;
      try {
        if (rest === undefined) writeFileSync(path, head);
        else bytes += await append(path, head, rest);
      } catch (error) {
        await rm(path, { force: true });
        throw explainWriteError(error);
      }
      return { path, bytes };
    },
    remove: (path) => rm(path, { force: true }),
    copy: async (pipe, path, maxBytes) => {
      const file = await open(path, 'w', 0o600).catch((error: unknown) => {
        // The engine would wait for a reader of the pipe for ever.
        pipe.stream.destroy();
        throw explainWriteError(error);
      });
      let bytes = 0;
      try {
        for await (const chunk of pipe.stream as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > maxBytes) {
            const text = `Limit for result exceeded, max bytes: ${maxBytes} of formatted text.`;
            throw new ServerException(396, 'TOO_MANY_ROWS_OR_BYTES', text);
          }
          await file.writeFile(chunk);
        }
      } finally {
        pipe.stream.destroy();
        await file.close();
      }
    },
    pipe: (index) => {
      const path = pipePath(index);
      // A non-blocking writer can open the pipe only after its reader. The local writer keeps the stream from ending before the engine has opened it.
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      let writerOpen = true;
      return {
        path,
        stream: new Socket({ fd: reader, readable: true, writable: false }),
        engineDone: () => {
          if (writerOpen) closeSync(writer);
          writerOpen = false;
        },
      };
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
