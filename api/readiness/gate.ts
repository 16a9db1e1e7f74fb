import { ApiError } from '../errors/failure.js';
import { isoFrom } from '../tables/values.js';
import { labels, type TableGroup } from './groups.js';
import { type GroupState, LAG_BOUND_S, type Loading } from './state.js';

/** Seconds after which an answer that was refused because its tables are empty may be asked for again. */
export const RETRY_AFTER_S = 5;

const smallest = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
};

/** In words, why there is no answer yet. */
function sentence({ table, percent }: GroupState): string {
  const part = percent === null ? 'nothing is there yet' : `${percent} % of the history is there`;
  return `${labels[table]} are still being loaded: ${part}. Try again in ${RETRY_AFTER_S} seconds.`;
}

/**
 * Whether an answer that is read from these table groups can be given now. Throws ApiError where the first of them, which it is made of, is empty; returns
 * the headers that say how far the tables are where one is loading or lagging. `loading` null: nothing is known yet.
 */
export function gate(reads: readonly TableGroup[], loading: Loading | null): Readonly<Record<string, string>> {
  if (reads.length === 0) return {};
  if (loading === null) {
    const message = `The tables are not known to be there yet. Try again in ${RETRY_AFTER_S} seconds.`;
    throw new ApiError({ kind: 'loading', message, retryAfterS: RETRY_AFTER_S });
  }
  const groups = reads.map((table) => loading.groups[table]);
  const [main] = groups;
  if (main?.state === 'empty')
    throw new ApiError({ kind: 'loading', message: sentence(main), retryAfterS: RETRY_AFTER_S });
  const partial = groups.filter(({ state }) => state !== 'loaded');
  const late = groups.filter(({ state, lagS }) => state === 'loaded' && lagS > LAG_BOUND_S);
  const told = [...partial, ...late];
  if (told.length === 0) return {};
  const list = (some: readonly GroupState[], fact: (group: GroupState) => string) =>
    some.map((group) => `${group.table}${fact(group)}`).join(', ');
  const block = smallest(told.map(({ throughBlock }) => throughBlock));
  const through = isoFrom(smallest(told.map(({ throughMs }) => throughMs)));
  return {
    ...(partial.length === 0
      ? {}
      : { 'x-loading': list(partial, ({ percent }) => (percent === null ? '' : ` ${percent}%`)) }),
    ...(late.length === 0 ? {} : { 'x-lagging': list(late, ({ lagS }) => ` ${lagS}s`) }),
    ...(block === null ? {} : { 'x-complete-through-block': String(block) }),
    ...(through === null ? {} : { 'x-complete-through': through }),
  };
}
