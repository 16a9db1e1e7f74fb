import { postDocument } from '../../../schemas/social/document.js';
import { matches } from '../../../schemas/social/query/matches.js';
import type { SocialPost } from '../../../schemas/types.gen.js';
import { type FetchedPosts, PlatformError, type SocialPlatform } from '../port.js';
import { createPlatformHttp, type PlatformHttpOptions } from './http.js';
import { mapPage, type RejectedPost } from './map-posts.js';
import { type PageResponse, pageResponse, userResponse } from './response.js';
import { toSearchRequest } from './search-request.js';

export interface PlatformOptions extends PlatformHttpOptions {
  /** Whether the token may search posts older than 7 days. */
  readonly fullArchive: boolean;
}

const POST_FIELDS = {
  'tweet.fields':
    'id,text,created_at,author_id,conversation_id,public_metrics,entities,attachments,referenced_tweets,note_tweet,article,card_uri,lang,in_reply_to_user_id',
  expansions:
    'author_id,in_reply_to_user_id,attachments.media_keys,referenced_tweets.id,referenced_tweets.id.author_id,referenced_tweets.id.attachments.media_keys,article.cover_media,article.media_entities',
  'user.fields': 'id,name,username',
  'media.fields': 'media_key,type,url,preview_image_url,variants,duration_ms,width,height,alt_text',
};
/** What the platform accepts. */
const SEARCH_PAGE = { min: 10, max: 100 };
const MAX_HANDLE_LENGTH = 15;
const TIMELINE_PAGE = { min: 5, max: 100 };
const MAX_TEXT_LENGTH = { recent: 512, archive: 1_024 };
const RECENT_MS = 7 * 86_400_000;
/** Start of an archive search without a start: when the platform opened. Without one it searches the 30 days before the end only. */
const ARCHIVE_START_MS = Date.UTC(2006, 2, 21);
/** Distance that times must keep from the ends of what the platform searches. */
const MARGIN_MS = 10_000;
/** Bounds the cost of a search whose filter matches few posts. */
const MAX_PAGES = 10;
const DEADLINE_MS = 20_000;
const MALFORMED_RETRY_S = 5;

const clamp = (value: number, { min, max }: { min: number; max: number }): string =>
  String(Math.min(max, Math.max(min, value)));
const newestFirst = (a: SocialPost, b: SocialPost): number =>
  b.created_at_ms - a.created_at_ms || (BigInt(a.id) < BigInt(b.id) ? 1 : -1);

/** The platform's API v2. */
export function createPlatform(options: PlatformOptions): SocialPlatform {
  const http = createPlatformHttp(options);
  const { nowMs, logger } = options;

  const page = async (path: string, params: Readonly<Record<string, string>>): Promise<PageResponse | null> => {
    const response = await http.get(path, { ...POST_FIELDS, ...params });
    if (response === null) return null;
    const parsed = pageResponse.safeParse(response);
    if (!parsed.success) throw new PlatformError('malformed', 'The platform sent no page of posts', MALFORMED_RETRY_S);
    return parsed.data;
  };

  /**
   * Reads pages until `max` posts pass the filter, nothing is left, a bound is reached, or a later page fails. null: the path does not exist or may not be
   * read. Rejects if the first page fails.
   */
  const collect = async (request: {
    readonly path: string;
    readonly params: Readonly<Record<string, string>>;
    readonly tokenName: string;
    readonly max: number;
    readonly accepts: (post: SocialPost) => boolean;
  }): Promise<FetchedPosts | null> => {
    const found = new Map<string, SocialPost>();
    const others: SocialPost[] = [];
    const referenced: SocialPost[] = [];
    const rejected: RejectedPost[] = [];
    let failure: PlatformError | null = null;
    const deadlineMs = nowMs() + DEADLINE_MS;
    let token: string | undefined;
    for (let pages = 1; ; pages += 1) {
      let response: PageResponse | null;
      try {
        response = await page(request.path, {
          ...request.params,
          ...(token === undefined ? {} : { [request.tokenName]: token }),
        });
      } catch (error) {
        if (pages === 1 || !(error instanceof PlatformError)) throw error;
        logger.warn({ path: request.path, pages: pages - 1, err: error }, 'a further page of posts could not be read');
        failure = error;
        break;
      }
      // Posts of protected users come as an error beside no data.
      if (response === null || (response.data === undefined && (response.errors?.length ?? 0) > 0)) {
        if (pages === 1) return null;
        break;
      }
      const mapped = mapPage(response, nowMs());
      for (const post of mapped.posts) {
        if (request.accepts(post)) found.set(post.id, post);
        else others.push(post);
      }
      referenced.push(...mapped.referenced);
      rejected.push(...mapped.rejected);
      token = response.meta?.next_token;
      if (token === undefined || found.size >= request.max || pages === MAX_PAGES || nowMs() >= deadlineMs) break;
    }
    const posts = [...found.values()].sort(newestFirst);
    others.push(...posts.slice(request.max));
    return { posts: posts.slice(0, request.max), others, referenced, rejected, failure };
  };

  return {
    async search(query, max) {
      const { text, startMs, endMs, filter } = toSearchRequest(query);
      const recentMs = nowMs() - RECENT_MS + MARGIN_MS;
      const latestMs = nowMs() - MARGIN_MS;
      const endsOld = endMs !== undefined && endMs <= recentMs;
      const isOld = startMs === undefined ? endsOld : startMs < recentMs;
      const useArchive = isOld && options.fullArchive;
      const archiveStartMs = useArchive ? Math.max(startMs ?? 0, ARCHIVE_START_MS) : undefined;
      const effectiveStartMs = isOld ? archiveStartMs : startMs;
      const earliestMs = effectiveStartMs ?? recentMs;
      if (earliestMs >= Math.min(endMs ?? latestMs, latestMs)) return null;
      const maxLength = useArchive ? MAX_TEXT_LENGTH.archive : MAX_TEXT_LENGTH.recent;
      if ([...text].length > maxLength)
        throw new PlatformError('bad_query', `the query has more than ${maxLength} characters`, MALFORMED_RETRY_S);
      const fetched = await collect({
        path: useArchive ? '/tweets/search/all' : '/tweets/search/recent',
        params: {
          query: text,
          sort_order: 'recency',
          max_results: clamp(filter === null ? max : SEARCH_PAGE.max, SEARCH_PAGE),
          ...(effectiveStartMs === undefined ? {} : { start_time: isoSeconds(effectiveStartMs) }),
          ...(endMs === undefined || endMs > latestMs ? {} : { end_time: isoSeconds(endMs) }),
        },
        tokenName: 'next_token',
        max,
        accepts: filter === null ? () => true : (post) => matches(filter, postDocument(post)),
      });
      if (fetched === null) throw new PlatformError('malformed', 'The platform has no search', MALFORMED_RETRY_S);
      return fetched;
    },
    async timeline(handle, max) {
      if (handle.length > MAX_HANDLE_LENGTH) return null;
      const response = await http.get(`/users/by/username/${handle}`, { 'user.fields': POST_FIELDS['user.fields'] });
      if (response === null) return null;
      const user = userResponse.safeParse(response);
      if (!user.success) throw new PlatformError('malformed', 'The platform sent no user', MALFORMED_RETRY_S);
      // Unknown, suspended and protected users come as an error beside no data.
      if (user.data.data === undefined) return null;
      return collect({
        path: `/users/${user.data.data.id}/tweets`,
        params: { max_results: clamp(max, TIMELINE_PAGE) },
        tokenName: 'pagination_token',
        max,
        accepts: () => true,
      });
    },
  };
}

const isoSeconds = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');
