import { z } from 'zod';
import type { SourceStatusView } from '../../../infra/sources/source-status-view.js';
import type { sourceEntry } from './source-entry.js';
import type { CountsRow } from './status.sql.js';

const count = z.int().nullable();

export const metadataObservabilitySchema = z
  .object({
    connected: z.boolean().meta({ description: 'The catalogue source is connected.' }),
    last_event_age_seconds: z
      .number()
      .nullable()
      .meta({ description: 'Seconds since the newest event of the catalogue source.' }),
    traded_tokens: count.meta({ description: 'Outcome tokens with a fill.' }),
    described_tokens: count.meta({ description: 'Part of `traded_tokens` with an entry in the catalogue.' }),
    ws_settlement_missing_full: z.int().meta({
      description:
        'Settlement frames sent without at least one of market title, slug, image, event title, outcome, tokens, since the stream processor started.',
    }),
    ws_settlement_missing_title: z
      .int()
      .meta({ description: 'Settlement frames sent without a market title, since the stream processor started.' }),
    ws_status_missing_full: z.int().meta({
      description:
        'Status update frames sent without at least one of market title, slug, image, event title, outcome, tokens, since the stream processor started.',
    }),
    ws_status_missing_title: z
      .int()
      .meta({ description: 'Status update frames sent without a market title, since the stream processor started.' }),
    hydration_queued: z.int().meta({
      description:
        'Conditions and tokens of the chain without a catalog entry that were queued for a lookup; since the ingest process started.',
    }),
    hydration_retries: z
      .int()
      .meta({ description: 'Lookups repeated after one that failed; since the ingest process started.' }),
    hydration_failures: z.int().meta({
      description: 'Lookups that failed, after the retries of their requests; since the ingest process started.',
    }),
    gamma_hydration_success: z.int().meta({
      description:
        'Lookups whose response contained at least one of the requested markets; since the ingest process started.',
    }),
    gamma_hydration_no_markets: z.int().meta({
      description: 'Lookups whose response contained none of the requested markets; since the ingest process started.',
    }),
    gamma_hydration_unusable: z.int().meta({
      description:
        'Rows of the catalog service that could not be decoded or written; since the ingest process started.',
    }),
    gamma_hydration_request_errors: z.int().meta({
      description:
        'Requests to the catalog service without a complete response: network faults, timeouts, bodies over the limit; since the ingest process started.',
    }),
    gamma_hydration_status_errors: z.int().meta({
      description: 'Responses of the catalog service with a status other than 2xx; since the ingest process started.',
    }),
    gamma_hydration_parse_errors: z.int().meta({
      description:
        'Responses of the catalog service that are not JSON or not of the documented shape; since the ingest process started.',
    }),
  })
  .meta({ description: 'Completeness of market metadata. Counters restart at 0 with the process that counts.' });

type StreamFrames = ReturnType<SourceStatusView['stream']>;
type Lookups = NonNullable<ReturnType<SourceStatusView['get']>>['metadata'];

/** Number of a column of `countsSql`; null if the tables could not be read. */
export const numberFrom = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

/** Counters of the catalogue source and of the stream processor; 0 without a report. */
export function metadataObservabilityFrom(from: {
  readonly catalog: ReturnType<typeof sourceEntry> | undefined;
  readonly counts: CountsRow | null;
  readonly lookups: Lookups | undefined;
  readonly frames: StreamFrames;
}): z.input<typeof metadataObservabilitySchema> {
  const { catalog, counts, lookups, frames } = from;
  return {
    connected: catalog?.connected ?? false,
    last_event_age_seconds: catalog?.last_event_age_seconds ?? null,
    traded_tokens: numberFrom(counts?.traded),
    described_tokens: numberFrom(counts?.described),
    ws_settlement_missing_full: frames?.settlement_missing_full ?? 0,
    ws_settlement_missing_title: frames?.settlement_missing_title ?? 0,
    ws_status_missing_full: frames?.status_missing_full ?? 0,
    ws_status_missing_title: frames?.status_missing_title ?? 0,
    hydration_queued: lookups?.hydration_queued ?? 0,
    hydration_retries: lookups?.hydration_retries ?? 0,
    hydration_failures: lookups?.hydration_failures ?? 0,
    gamma_hydration_success: lookups?.gamma_hydration_success ?? 0,
    gamma_hydration_no_markets: lookups?.gamma_hydration_no_markets ?? 0,
    gamma_hydration_unusable: lookups?.gamma_hydration_unusable ?? 0,
    gamma_hydration_request_errors: lookups?.gamma_hydration_request_errors ?? 0,
    gamma_hydration_status_errors: lookups?.gamma_hydration_status_errors ?? 0,
    gamma_hydration_parse_errors: lookups?.gamma_hydration_parse_errors ?? 0,
  };
}
