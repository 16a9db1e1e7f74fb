import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogCorruptError } from '../errors.js';
import type { LogRecord } from '../port.js';
import { type ChunkEntry, collectRecords, encodeChunk, readHeader, visitChunk } from './chunk.js';

const entries: fc.Arbitrary<ChunkEntry[]> = fc
  .array(
    fc.record({
      gap: fc.nat(3),
      timestampMs: fc.nat(2 ** 40),
      key: fc.string({ unit: 'grapheme', maxLength: 8 }),
      value: fc.option(fc.uint8Array({ maxLength: 30 })),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((rows) => {
    let delta = -1;
    return rows.map(({ gap, timestampMs, key, value }) => {
      delta += 1 + gap;
      return { delta, timestampMs, key: Buffer.from(key), value };
    });
  });

describe('chunk', () => {
  it('decodes to the encoded entries of any offset range', () => {
    fc.assert(
      fc.property(entries, fc.nat(80), fc.nat(80), fc.integer({ min: 1, max: 30 }), (rows, from, end, max) => {
        const base = 1000;
        const offsetSpan = rows.at(-1)!.delta + 1;
        const chunk = encodeChunk(rows, offsetSpan);
        const found: LogRecord[] = [];
        collectRecords(chunk, base, base + from, base + end, max, found);
        const expected = rows.filter(({ delta }) => delta >= from && delta < end).slice(0, max);
        expect(
          found.map(({ offset, key, timestampMs, value }) => [offset, key, timestampMs, value && [...value]]),
        ).toEqual(
          expected.map(({ delta, key, timestampMs, value }) => [
            base + delta,
            Buffer.from(key).toString(),
            timestampMs,
            value && [...value],
          ]),
        );
        expect(readHeader(chunk)).toEqual({
          count: rows.length,
          offsetSpan,
          maxTimestampMs: Math.max(...rows.map(({ timestampMs }) => timestampMs)),
          hasTombstones: rows.some(({ value }) => value === null),
          tombstoneHorizonMs: 0,
          firstDelta: rows[0]!.delta,
          lastDelta: rows.at(-1)!.delta,
        });
      }),
    );
  });

  it('is rejected with any flipped byte after the checksum, or truncated', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), (rows, where, flip) => {
        const chunk = encodeChunk(rows, rows.at(-1)!.delta + 1);
        const at = 8 + (where % (chunk.length - 8));
        const bad = Buffer.from(chunk);
        bad[at]! ^= flip;
        expect(() => collectRecords(bad, 0, 0, Number.POSITIVE_INFINITY, 100, [])).toThrow(LogCorruptError);
        expect(() => visitChunk(chunk.subarray(0, at), () => true)).toThrow(LogCorruptError);
      }),
    );
  });
});
