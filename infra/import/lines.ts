import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** Values of a file of gzipped lines of JSON, one at a time: a text of all of them may be longer than a string can be. */
export async function* linesOf<T>(path: string): AsyncGenerator<T> {
  const input = createReadStream(path).pipe(createGunzip());
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
    if (line !== '') yield JSON.parse(line) as T;
}

/** Writes a file for linesOf. */
export async function writeLines(path: string, values: AsyncIterable<unknown>): Promise<void> {
  async function* lines() {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  }
  await pipeline(lines, createGzip(), createWriteStream(path));
}
