import type { Query } from '../../schemas/social/query/query.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import type { RejectedPost } from './platform/map-posts.js';

/** Posts that a request to the platform found, newest first. */
export interface FetchedPosts {
  readonly posts: readonly SocialPost[];
  /** Further posts of the responses, which match no local condition or are too many. */
  readonly others: readonly SocialPost[];
  /** Posts that these quote, repost or reply to. The platform includes no posts that they quote in turn, nor all users. */
  readonly referenced: readonly SocialPost[];
  readonly rejected: readonly RejectedPost[];
  /** Why a further page could not be read; null if all were. */
  readonly failure: PlatformError | null;
}

/** The platform that posts are fetched from. All methods reject with PlatformError. */
export interface SocialPlatform {
  /** At most `max` posts that match. null: the platform does not search the times of the query. */
  search(query: Query, max: number): Promise<FetchedPosts | null>;
  /** At most `max` posts, reposts and replies of a user; null: there is no such user, or its posts are not public. */
  timeline(handle: string, max: number): Promise<FetchedPosts | null>;
}

export type PlatformFailure =
  /** Not reachable, too slow, or a server error, also after retries. */
  | 'unavailable'
  /** The platform's own rate limit. */
  | 'rate_limited'
  /** It does not accept the credentials. */
  | 'unauthorized'
  /** The response is not of the documented form. */
  | 'malformed'
  /** It does not accept the query. */
  | 'bad_query';

export class PlatformError extends Error {
  override name = 'PlatformError';
  constructor(
    readonly reason: PlatformFailure,
    message: string,
    /** Seconds after which a retry may succeed. */
    readonly retryAfterS: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
