import type { SqlValue } from './port.js';

/** Conditions of a statement and the values of their bound parameters. No text: they do not filter. */
export interface Where {
  readonly text: string;
  readonly params: Readonly<Record<string, SqlValue>>;
}

type Part = Where | string | null | undefined | false;

/** The conditions together; those that are not set are left out. */
export function allOf(...parts: readonly Part[]): Where {
  const set = parts.flatMap((part) => (typeof part === 'string' ? { text: part, params: {} } : part || []));
  return {
    text: set.flatMap(({ text }) => (text === '' ? [] : text)).join(' AND '),
    params: Object.assign({}, ...set.map(({ params }) => params)),
  };
}

/** A condition with one bound parameter; none without a value. */
export const given = (value: SqlValue | null | undefined, name: string, text: string): Where | null =>
  value === null || value === undefined ? null : { text, params: { [name]: value } };

/** The conditions as a clause. */
export const whereClause = ({ text }: Where): string => (text === '' ? '' : `WHERE ${text}`);

/** Times of a DateTime column, Unix seconds, both ends included; null does not bound. */
export const withinTimes = (
  column: string,
  { afterS, beforeS }: { readonly afterS: number | null; readonly beforeS: number | null },
): Where =>
  allOf(
    given(afterS, 'after', `${column} >= toDateTime({after:UInt32}, 'UTC')`),
    given(beforeS, 'before', `${column} <= toDateTime({before:UInt32}, 'UTC')`),
  );

/** Rows of the alias after a position in the order of the chain, as the page has it. */
export const beyondPosition = (
  alias: string,
  at: { readonly blockNumber: number; readonly logIndex: number } | null,
  order: 'asc' | 'desc',
): Where | null =>
  at && {
    text: `(${alias}.block_number, ${alias}.log_index) ${order === 'desc' ? '<' : '>'} ({beyond_block:UInt64}, {beyond_log:UInt32})`,
    params: { beyond_block: at.blockNumber, beyond_log: at.logIndex },
  };
