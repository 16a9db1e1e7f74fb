import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { FatalError } from '../errors.js';
import type { Log } from '../log/port.js';

/** Small topics that have records soon after the first start; no two of them share an event kind. */
const SAMPLED_TOPICS = [topics.sources, topics.catalog, topics.accountsState, topics.chainFinal];

/**
 * Ids mean different schemas in the committed file and in each registry, so a log can only be used with the schema ids it was created with.
 * Throws FatalError when none of the newest records of a few topics decodes as an event of its topic; a single broken record is no proof.
 */
export async function assertSchemaIdsMatch(deps: { log: Log; codec: Codec; idsFrom: string }): Promise<void> {
  const { log, codec, idsFrom } = deps;
  let wrong: string | null = null;
  for (const topic of SAMPLED_TOPICS) {
    const bytes = (await log.lastRecord(topic.name, 0))?.value;
    if (bytes == null) continue;
    try {
      const { kind } = codec.decode(bytes);
      if (topic.kinds.some((allowed) => allowed === kind)) return;
      wrong ??= `${topic.name} seems to contain a ${kind}`;
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      wrong ??= `${topic.name}: ${error.message}`;
    }
  }
  if (wrong === null) return;
  throw new FatalError(
    `This log was written with other schema ids than those of ${idsFrom} (${wrong}). ` +
      'Set SCHEMA_REGISTRY_URL to the registry that the log was created with, or use another log (LOG_URL, ODDSTREAM_DATA).',
  );
}
