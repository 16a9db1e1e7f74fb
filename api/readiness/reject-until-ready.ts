import { ApiError } from '../errors/failure.js';
import { isoFrom } from '../tables/values.js';
import { type LoadStatus, MAX_LAG_S, type TableGroupState } from './load-status.js';
import { type TableGroup, tableGroupLabels } from './table-groups.js';

/** Seconds after which a client may retry a request that was rejected because its tables are empty. */
const RETRY_AFTER_S = 5;

const minKnown = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
};

/** Error text for a table group without rows. */
function loadingMessage({ table, percent }: TableGroupState): string {
  const part = percent === null ? 'nothing is there yet' : `${percent} % of the history is there`;
  return `${tableGroupLabels[table]} are still being loaded: ${part}. Try again in ${RETRY_AFTER_S} seconds.`;
}

/**
 * Rejects a request whose main table group (the first) is empty with an ApiError; otherwise returns the headers that describe how far the tables
 * are, if one of the groups is loading or lagging. `loading` null: the progress is not known yet. `answersWhileEmpty`: rejects nothing.
 */
export function rejectUntilReady(
  reads: readonly TableGroup[],
  loading: LoadStatus | null,
  answersWhileEmpty = false,
): Readonly<Record<string, string>> {
  if (reads.length === 0) return {};
  if (loading === null) {
    if (answersWhileEmpty) return {};
    const message = `The tables are not known to be there yet. Try again in ${RETRY_AFTER_S} seconds.`;
    throw new ApiError({ kind: 'loading', message, retryAfterS: RETRY_AFTER_S });
  }
  const groups = reads.map((table) => loading.groups[table]);
  const [main] = groups;
  if (main?.state === 'empty' && !answersWhileEmpty)
    throw new ApiError({ kind: 'loading', message: loadingMessage(main), retryAfterS: RETRY_AFTER_S });
  const partial = groups.filter(({ state }) => state !== 'loaded');
  const late = groups.filter(({ state, lagS }) => state === 'loaded' && lagS > MAX_LAG_S);
  const reported = [...partial, ...late];
  if (reported.length === 0) return {};
  const list = (some: readonly TableGroupState[], fact: (group: TableGroupState) => string) =>
    some.map((group) => `${group.table}${fact(group)}`).join(', ');
  const block = minKnown(reported.map(({ throughBlock }) => throughBlock));
  const through = isoFrom(minKnown(reported.map(({ throughMs }) => throughMs)));
  return {
    ...(partial.length === 0
      ? {}
      : { 'x-loading': list(partial, ({ percent }) => (percent === null ? '' : ` ${percent}%`)) }),
    ...(late.length === 0 ? {} : { 'x-lagging': list(late, ({ lagS }) => ` ${lagS}s`) }),
    ...(block === null ? {} : { 'x-complete-through-block': String(block) }),
    ...(through === null ? {} : { 'x-complete-through': through }),
  };
}
