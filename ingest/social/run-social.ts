import type { MappedPage } from '../../infra/social/platform/map-posts.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { SourceLog } from '../shared/owned-log.js';

/**
 * Appends the recorded posts that `social.posts` does not contain yet; unreadable ones go to dead letters. Resolves when all are durable. Live posts are
 * fetched and appended by the API, on request.
 */
export async function runSocial(deps: {
  readonly pages: readonly MappedPage[];
  readonly log: SourceLog;
  readonly codec: Codec;
  readonly deadLetters: DeadLetters;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { log, codec, deadLetters, signal } = deps;
  const topic = topics.socialPosts.name;
  const known = new Set<string>();
  for await (const batch of log.read({ topic, partition: 0, from: 'earliest', follow: false, signal }))
    for (const { key } of batch.records) known.add(key);
  // Of several copies of a post, that of a page remains: a referenced one lacks posts that it quotes.
  const copies = [...deps.pages.flatMap(({ referenced }) => referenced), ...deps.pages.flatMap((page) => page.posts)];
  const posts = [...new Map(copies.map((post) => [post.id, post])).values()].filter(({ id }) => !known.has(id));
  if (posts.length > 0)
    await log.append(
      topic,
      posts.map((post) => ({
        key: post.id,
        value: codec.encode('social_post', post),
        timestampMs: post.fetched_at_ms,
      })),
    );
  for (const { reason, payload } of deps.pages.flatMap(({ rejected }) => rejected))
    await deadLetters.put({ origin: 'social', stage: 'social.decode', reason, payload });
  deps.logger.info({ posts: posts.length, known: known.size }, 'recorded posts are in the log');
}
