import type { PlanTerms } from '../../schemas/plans.js';
import type { Filters } from '../protocol/messages.js';
import type { SnapshotRequest } from '../replay/snapshot.js';
import type { ActiveSubscription } from './subscriptions.js';

/** Bound of the warnings of one frame. */
const MAX_WARNINGS = 100;

/** The first warnings of a frame, with the number of those left out. */
export const boundedWarnings = (warnings: readonly string[]): readonly string[] =>
  warnings.length <= MAX_WARNINGS
    ? warnings
    : [...warnings.slice(0, MAX_WARNINGS - 1), `${warnings.length - MAX_WARNINGS + 1} more warnings`];

/** Warnings about values beyond the plan. */
export function clampWarnings(filters: Filters, terms: PlanTerms, nowMs: number): string[] {
  if (filters.since_seq !== undefined) {
    return filters.since === undefined ? [] : ['since ignored: since_seq is given'];
  }
  if (filters.since !== undefined) {
    const oldest = nowMs - terms.sinceLookbackMs;
    return filters.since < oldest ? [`since clamped to the last ${terms.sinceLookbackMs / 1000} s of your plan`] : [];
  }
  return filters.snapshot_count > terms.snapshotCap
    ? [`snapshot_count clamped to ${terms.snapshotCap}, the cap of your plan`]
    : [];
}

/** The snapshot that a subscription starts with; null: none. */
export function snapshotRequestOf(
  { preset, filters }: ActiveSubscription,
  terms: PlanTerms,
  nowMs: number,
): SnapshotRequest | null {
  if (preset === 'chainlink') return null;
  if (filters.since !== undefined) return { sinceMs: Math.max(filters.since, nowMs - terms.sinceLookbackMs) };
  const count = Math.min(filters.snapshot_count, terms.snapshotCap);
  return count === 0 ? null : { count };
}

/** Acknowledgement of a subscription. */
export function subscribedFrame(
  subscriberId: string,
  { id, preset, filters }: ActiveSubscription,
  epoch: string | null,
  warnings: readonly string[],
): object {
  const selection =
    preset === 'chainlink' ? { price_source: priceSource(filters), twap_windows: filters.twap_windows ?? null } : {};
  return {
    type: 'subscribed',
    subscriber_id: subscriberId,
    subscription_id: id,
    subscription_type: preset,
    ...selection,
    ...(epoch === null ? {} : { epoch }),
    warnings: boundedWarnings(warnings),
  };
}

function priceSource(filters: Filters): string {
  if (filters.price_source === 'spot') return 'spot';
  if (filters.twap_windows === undefined) return 'follow_main';
  return filters.twap_windows.length > 1 ? 'both' : `twap${filters.twap_windows[0]}`;
}
