import { z } from 'zod';
import { badParameter } from '../errors/failure.js';
import type { LogPosition } from '../fills/log-position.js';

/**
 * Text of a cursor: base64url of a JSON list [endpoint, order, ...values]. The values are where the page starts, so that no process stores anything
 * between two pages. They are not signed: they select rows that the same caller can request by other parameters, and each one is validated.
 */
const MAX_LENGTH = 4_000;
const INVALID = 'invalid cursor: use next_cursor of an earlier page';

/** Converts the start of a page to the values of a cursor and back; `parse` returns null for other values. */
export interface CursorKind<Position> {
  readonly values: (position: Position) => readonly string[];
  readonly parse: (values: readonly string[]) => Position | null;
}

/** The list that a cursor belongs to. */
export interface CursorList {
  /** Path template of the route. */
  readonly endpoint: string;
  /** Sort key and direction, where the list has several. */
  readonly order?: string | undefined;
}

/** Cursors of one list. */
export interface Cursors<Position> {
  /** Start of the page; null without a cursor. Throws ApiError for malformed text and for a cursor of another list. */
  read(text: string | undefined): Position | null;
  write(position: Position): string;
}

function decode(text: string): readonly string[] | null {
  if (text.length > MAX_LENGTH || !/^[\w-]+$/.test(text)) return null;
  try {
    const found: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isList = Array.isArray(found) && found.length >= 2 && found.every((value) => typeof value === 'string');
    return isList ? (found as string[]) : null;
  } catch {
    // Not JSON.
    return null;
  }
}

/** Reads and writes the cursors of a list. */
export function cursorsOf<Position>(
  kind: CursorKind<Position>,
  { endpoint, order = '' }: CursorList,
): Cursors<Position> {
  return {
    read(text) {
      if (text === undefined) return null;
      const [ofEndpoint, ofOrder, ...values] = decode(text) ?? [];
      if (ofEndpoint === undefined) throw badParameter(INVALID);
      if (ofEndpoint !== endpoint) throw badParameter('invalid cursor: it belongs to another endpoint');
      if (ofOrder !== order) throw badParameter('invalid cursor: it belongs to another sort or order');
      const position = kind.parse(values);
      if (position === null) throw badParameter(INVALID);
      return position;
    },
    write: (position) =>
      Buffer.from(JSON.stringify([endpoint, order, ...kind.values(position)]), 'utf8').toString('base64url'),
  };
}

/** Query parameter with a cursor; the handler reads it with `cursorsOf`. */
export const cursorText = (description: string) => z.string().meta({ type: 'string', description }).optional();

const whole = (text: string | undefined, max: number): number | null =>
  text !== undefined && /^\d{1,16}$/.test(text) && Number(text) <= max ? Number(text) : null;
const MAX_BLOCK = 1e15;
const MAX_LOG_INDEX = 1e9;

/** After a row of the chain. */
export const logPositionCursor: CursorKind<LogPosition> = {
  values: ({ blockNumber, logIndex }) => [String(blockNumber), String(logIndex)],
  parse([block, log, ...rest]) {
    const [blockNumber, logIndex] = [whole(block, MAX_BLOCK), whole(log, MAX_LOG_INDEX)];
    return blockNumber === null || logIndex === null || rest.length > 0 ? null : { blockNumber, logIndex };
  },
};

/** An offset into a list that contains the rows up to `atMost` only: rows that arrive later move none of it. */
export interface SnapshotOffset {
  readonly atMost: LogPosition;
  readonly offset: number;
}

export const snapshotOffsetCursor: CursorKind<SnapshotOffset> = {
  values: ({ atMost, offset }) => [...logPositionCursor.values(atMost), String(offset)],
  parse([block, log, depth, ...rest]) {
    const atMost = logPositionCursor.parse([block ?? '', log ?? '']);
    const offset = whole(depth, 10_000_000);
    return atMost === null || offset === null || rest.length > 0 ? null : { atMost, offset };
  },
};

/** After a rank of a periodic snapshot. */
export interface SnapshotRank {
  /** Time of the snapshot, Unix milliseconds. */
  readonly takenAtMs: number;
  readonly rank: number;
}

export const snapshotRankCursor: CursorKind<SnapshotRank> = {
  values: ({ takenAtMs, rank }) => [String(takenAtMs), String(rank)],
  parse([at, place, ...rest]) {
    const [takenAtMs, rank] = [whole(at, MAX_BLOCK), whole(place, MAX_LOG_INDEX)];
    return takenAtMs === null || rank === null || rest.length > 0 ? null : { takenAtMs, rank };
  },
};

/** Error text for a page of a snapshot that was deleted after the first page. */
export const SNAPSHOT_EXPIRED =
  'snapshot expired: the snapshot of the first page is no longer retained; restart from the first page';
