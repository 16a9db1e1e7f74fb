import { z } from 'zod';
import { watchedContracts } from '../../../schemas/coverage/sources.js';
import { isoFrom } from '../../tables/values.js';
import type { UnknownEventRow } from './status.sql.js';

export const alarmSchema = z.object({
  kind: z.enum(['unknown_event']).meta({
    description:
      '`unknown_event`: a watched contract emits an event that this version cannot decode. Its logs are stored undecoded.',
  }),
  message: z.string(),
  contract: z.string().meta({ description: 'Source name as in `/v1/coverage`.' }),
  address: z.string(),
  topic0: z.string().nullable().meta({ description: 'null for an anonymous event.' }),
  logs: z.int().meta({ description: 'Number of stored logs.' }),
  first_block: z.int(),
  last_block: z.int(),
  last_at: z.string().nullable(),
  tx_hash: z.string().meta({ description: 'Transaction of the newest log.' }),
});

/** Alarm for an event of a watched contract that the decoder does not know. */
export function alarmOf(row: UnknownEventRow): z.input<typeof alarmSchema> {
  const contract = watchedContracts.find(({ address }) => address === row.address)?.name ?? row.address;
  const event = row.topic0 === '' ? 'an anonymous event' : `an event unknown to this version, ${row.topic0}`;
  return {
    kind: 'unknown_event',
    message: `Contract ${contract} emits ${event}: the venue changed its contracts, and no table contains these events. Update the decoder.`,
    contract: `contract:${contract}`,
    address: row.address,
    topic0: row.topic0 === '' ? null : row.topic0,
    logs: Number(row.logs),
    first_block: Number(row.first_block),
    last_block: Number(row.last_block),
    last_at: isoFrom(row.last_ms),
    tx_hash: row.tx_hash,
  };
}
