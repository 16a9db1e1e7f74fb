import type { Draft } from './frames/frame.js';

/** Fields of a settlement or status_update frame that only the catalog can supply. */
const FULL_METADATA = ['market_title', 'market_slug', 'market_image', 'event_title', 'outcome', 'tokens'] as const;

/** Counts settlement and status_update frames whose market metadata is incomplete. Combo frames describe their legs instead: not counted. */
export function createMetadataCounts() {
  const counts = {
    settlement_missing_full: 0,
    settlement_missing_title: 0,
    status_missing_full: 0,
    status_missing_title: 0,
  };
  return {
    count({ kind, combo, body: { data } }: Draft): void {
      if (combo !== undefined || (kind !== 'settlement' && kind !== 'status_update')) return;
      const prefix = kind === 'settlement' ? 'settlement' : 'status';
      if (data.market_title === undefined) counts[`${prefix}_missing_title`]++;
      if (FULL_METADATA.some((field) => data[field] === undefined)) counts[`${prefix}_missing_full`]++;
    },
    status: () => ({ ...counts }),
  };
}
