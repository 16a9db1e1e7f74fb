import { type FetchedPosts, PlatformError, type SocialPlatform } from '../../infra/social/port.js';
import type { PostBody } from '../../schemas/social/post.js';
import type { Query } from '../../schemas/social/query/query.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import { ApiError, badParameter } from '../errors/failure.js';
import type { Tables } from '../tables/port.js';
import type { PostWriter } from './post-writer.js';
import { postsByIdSql, type StoredPostRow, searchSql } from './posts.sql.js';
import { createRecentFetches } from './recent-fetches.js';

export interface PostPage {
  /** Newest first. */
  readonly posts: readonly PostBody[];
  /** When the newest of the posts was fetched, Unix ms; without posts: when they were looked for. */
  readonly fetchedMs: number;
  /** stored: only posts that earlier requests or the recording have brought. */
  readonly source: 'platform' | 'stored';
}

/** Posts by query and by author, from the platform or, without one, from the table. */
export interface SocialPosts {
  /** Throws ApiError: upstream, or bad_parameter for a query that the platform does not accept. */
  search(query: Query, max: number): Promise<PostPage>;
  /** null: there is no such user. Throws ApiError upstream. */
  timeline(handle: string, max: number): Promise<PostPage | null>;
}

const bodyOf = (text: string): PostBody => JSON.parse(text) as PostBody;

/** Converts a failure of the platform to that of the request. */
function toApiError(error: unknown): unknown {
  if (!(error instanceof PlatformError)) return error;
  if (error.reason === 'bad_query') return badParameter(`The platform does not accept the query: ${error.message}`);
  return new ApiError({ kind: 'upstream', retryAfterS: error.retryAfterS }, { cause: error });
}

export function createSocialPosts(deps: {
  readonly tables: Pick<Tables, 'rows'>;
  /** null: none is configured, the posts are in the table. */
  readonly platform: SocialPlatform | null;
  readonly writer: PostWriter;
  readonly nowMs: () => number;
}): SocialPosts {
  const { tables, platform, writer, nowMs } = deps;
  const recent = createRecentFetches<FetchedPosts | null>({ nowMs });

  const stored = async (query: Query, max: number): Promise<PostPage> => {
    const rows = await tables.rows<StoredPostRow>(searchSql(query, max));
    const fetchedMs = rows.length === 0 ? nowMs() : Math.max(...rows.map((row) => Number(row.fetched_ms)));
    return { posts: rows.map(({ body }) => bodyOf(body)), fetchedMs, source: 'stored' };
  };

  /** Posts of an earlier fetch as the table has them now: another request may have fetched some of them since. */
  const asStored = async (posts: readonly SocialPost[]): Promise<readonly PostBody[]> => {
    if (posts.length === 0) return [];
    const times = posts.map((post) => post.created_at_ms);
    const ids = posts.map(({ id }) => id);
    const range = { fromMs: Math.min(...times), toMs: Math.max(...times) };
    const rows = await tables.rows<StoredPostRow>(postsByIdSql(ids, range));
    const found = new Map(rows.map((row) => [row.id, row]));
    return posts.map((post) => {
      // The table follows the log by a second or two, so that it may not have the fetch yet.
      const row = found.get(post.id);
      return bodyOf(row !== undefined && Number(row.fetched_ms) >= post.fetched_at_ms ? row.body : post.body);
    });
  };

  /** Fetches, or repeats the result of an equal request of the last seconds. */
  const fetchOnce = async (key: string, fetchPosts: () => Promise<FetchedPosts | null>): Promise<PostPage | null> => {
    const load = async () => {
      const fetched = await fetchPosts();
      // The response reports posts that are durable.
      if (fetched !== null) await writer.append(fetched);
      // No posts would mean that there are none.
      if (fetched?.posts.length === 0 && fetched.failure !== null) throw fetched.failure;
      return fetched;
    };
    try {
      const { value, startedMs, isRepeated } = await recent.get(key, load);
      if (value === null) return null;
      const posts = isRepeated ? await asStored(value.posts) : value.posts.map(({ body }) => bodyOf(body));
      return { posts, fetchedMs: startedMs, source: 'platform' };
    } catch (error) {
      throw toApiError(error);
    }
  };

  return {
    async search(query, max) {
      if (platform === null) return stored(query, max);
      const key = `search:${max}:${JSON.stringify(query)}`;
      // null: the platform does not reach back to the times of the query, but the table may.
      return (await fetchOnce(key, () => platform.search(query, max))) ?? stored(query, max);
    },
    async timeline(handle, max) {
      const name = handle.toLowerCase();
      if (platform !== null) return fetchOnce(`timeline:${max}:${name}`, () => platform.timeline(handle, max));
      const page = await stored({ type: 'term', kind: 'from', value: name }, max);
      return page.posts.length === 0 ? null : page;
    },
  };
}
