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
  const loaded = percent === null ? 'no rows yet' : `${percent} % of the history is loaded`;
  return `${tableGroupLabels[table]} are still loading: ${loaded}. Try again in ${RETRY_AFTER_S} seconds.`;
}

/**
 * Throws ApiError if the main table group of a request (the first) is empty; otherwise returns headers with the progress of the groups that are loading or
 * lagging. `loading` null: the progress is unknown. `respondsWhileEmpty`: rejects nothing.
 */
export function rejectUntilReady(
  reads: readonly TableGroup[],
  loading: LoadStatus | null,
  respondsWhileEmpty = false,
): Readonly<Record<string, string>> {
  if (reads.length === 0) return {};
  if (loading === null) {
    if (respondsWhileEmpty) return {};
    const message = `The load progress of the tables is not known yet. Try again in ${RETRY_AFTER_S} seconds.`;
    throw new ApiError({ kind: 'loading', message, retryAfterS: RETRY_AFTER_S });
  }
  const groups = reads.map((table) => loading.groups[table]);
  const [main] = groups;
  if (main?.state === 'empty' && !respondsWhileEmpty)
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
