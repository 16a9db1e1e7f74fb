import { createHash } from 'node:crypto';
import type { Log } from '../../infra/log/port.js';
import type { FetchedPosts } from '../../infra/social/port.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { KnownContent } from './known-content.js';

/** Longest payload of a dead letter, in characters. */
const MAX_PAYLOAD = 16_000;
/** Dead letters per fetch: a response that is unreadable throughout must not fill the log. */
const MAX_REJECTED = 20;

/** Appends fetched posts to the log. */
export interface PostWriter {
  /** Resolves once all posts are durable. Unreadable ones are counted and go to dead.letters. Safe to repeat. */
  append(fetched: FetchedPosts): Promise<void>;
}

export function createPostWriter(deps: {
  readonly log: Pick<Log, 'append'>;
  readonly codec: Pick<Codec, 'encode'>;
  readonly known: KnownContent;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}): PostWriter {
  const { log, codec, known } = deps;
  const written = deps.metrics.counter('social_posts_total', 'Fetched posts appended to the log');
  const rejected = deps.metrics.counter('social_posts_rejected_total', 'Posts of the platform that cannot be read');
  return {
    async append(fetched) {
      const complete = new Map([...fetched.others, ...fetched.posts].map((post) => [post.id, post]));
      const referenced = await known.complete(fetched.referenced.filter(({ id }) => !complete.has(id)));
      known.remember(complete.values());
      const posts = new Map([...referenced, ...complete.values()].map((post) => [post.id, post]));
      if (posts.size > 0) {
        await log.append(
          topics.socialPosts.name,
          [...posts.values()].map((post) => ({
            key: post.id,
            value: codec.encode('social_post', post),
            timestampMs: post.fetched_at_ms,
          })),
        );
        written.inc(posts.size);
      }
      if (fetched.rejected.length === 0) return;
      rejected.inc(fetched.rejected.length);
      const receivedMs = deps.nowMs();
      await log.append(
        topics.deadLetters.name,
        fetched.rejected.slice(0, MAX_REJECTED).map(({ reason, payload }) => {
          const id = createHash('sha256').update(`social\n${payload}`).digest('hex').slice(0, 32);
          const value = codec.encode('dead_letter', {
            id,
            origin: 'social',
            stage: 'social.decode',
            reason,
            payload: payload.slice(0, MAX_PAYLOAD),
            received_at_ms: receivedMs,
          });
          return { key: 'social', value, timestampMs: receivedMs };
        }),
      );
    },
  };
}
