import { LRUCache } from 'lru-cache';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { PostBody } from '../../schemas/social/post.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import type { Tables } from '../tables/port.js';
import { postsByIdSql, type StoredPostRow } from './posts.sql.js';

type Content = Pick<StoredPostRow, 'body' | 'reply_to_username'>;

/** Ids of one query. */
const IDS_PER_QUERY = 2_000;
/** Posts in memory: more than are appended in the time that the table is behind the log. */
const MAX_REMEMBERED = 2_000;

/**
 * What earlier fetches brought of a post. A copy that the platform includes with another post lacks the post that it quotes and whom it replies to, so that
 * it must not replace one that was fetched itself.
 */
export interface KnownContent {
  /** The referenced posts with the content that is known of them; counts and author are those of the copy. None if the table cannot be read. */
  complete(referenced: readonly SocialPost[]): Promise<readonly SocialPost[]>;
  /** To be called before posts that were fetched themselves are appended. */
  remember(posts: Iterable<SocialPost>): void;
}

/** A post's content never changes: an edited post is a new one. */
function withContent(copy: SocialPost, known: Content): SocialPost {
  const own = JSON.parse(copy.body) as PostBody;
  const body: PostBody = {
    ...own,
    ...(JSON.parse(known.body) as PostBody),
    author: own.author,
    public_metrics: own.public_metrics,
  };
  return {
    ...copy,
    text: body.text,
    reply_to_username: copy.reply_to_username || known.reply_to_username,
    has_media: body.media !== undefined,
    has_links: body.urls !== undefined,
    body: JSON.stringify(body),
  };
}

export function createKnownContent(deps: {
  readonly tables: Pick<Tables, 'rows'>;
  readonly logger: Logger;
}): KnownContent {
  const { tables, logger } = deps;
  /** The posts appended last, which the table may not have yet. */
  const remembered = new LRUCache<string, Content>({ max: MAX_REMEMBERED });

  const stored = async (posts: readonly SocialPost[]): Promise<ReadonlyMap<string, Content>> => {
    const found = new Map<string, Content>();
    for (let from = 0; from < posts.length; from += IDS_PER_QUERY) {
      const part = posts.slice(from, from + IDS_PER_QUERY);
      const ids = part.map(({ id }) => id);
      const times = part.map((post) => post.created_at_ms);
      const range = { fromMs: Math.min(...times), toMs: Math.max(...times) };
      for (const row of await tables.rows<StoredPostRow>(postsByIdSql(ids, range))) found.set(row.id, row);
    }
    return found;
  };

  return {
    async complete(referenced) {
      let found: ReadonlyMap<string, Content>;
      try {
        found = await stored(referenced);
      } catch (error) {
        logger.warn(
          { err: error, posts: referenced.length },
          'referenced posts are left out: stored ones cannot be read',
        );
        return [];
      }
      return referenced.map((copy) => {
        const known = remembered.peek(copy.id) ?? found.get(copy.id);
        return known === undefined ? copy : withContent(copy, known);
      });
    },
    remember(posts) {
      for (const { id, body, reply_to_username } of posts) remembered.set(id, { body, reply_to_username });
    },
  };
}
