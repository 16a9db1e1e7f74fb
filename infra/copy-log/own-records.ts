import { type Topic, topics } from '../../schemas/topics.js';
import type { CopiedEvent } from './copy-topic.js';

/** What of a topic belongs to its own log only, as a copy has it: the status of the stream names events that the copy does not have. */
export const ownRecordsOf = (topic: Topic): { readonly copied?: CopiedEvent } =>
  topic.name === topics.sources.name ? { copied: (event) => (event.kind === 'stream_status' ? null : event) } : {};
