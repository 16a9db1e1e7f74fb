import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { MAX_QUERY_LENGTH, parseQuery } from '../../../schemas/social/query/parse.js';
import type { Query } from '../../../schemas/social/query/query.js';
import { QuerySyntaxError } from '../../../schemas/social/query/tokens.js';
import { ApiError, notFound } from '../../errors/failure.js';
import { integerParam, parsedText, requiredText } from '../../http/params.js';
import { defineRoute, errorSchema, notFoundResponse, type RequestContext, type Route } from '../../http/route.js';
import { enforceFeatureLimit, type FeatureLimit } from '../../limits/feature-limit.js';
import type { RateLimitStore } from '../../limits/port.js';
import type { PostPage, SocialPosts } from '../../social/posts.js';
import { quotaHeaders, type SearchQuota } from '../../social/quota.js';
import { examplePost, postSchema } from './post-schema.js';

const HANDLE = /^[A-Za-z0-9_]{1,50}$/;
const MAX_POSTS = 50;
const RATE_WINDOW_MS = 1_000;

const rateLimit: FeatureLimit = {
  name: 'social',
  requests: commonLimits.socialRequestsPerSecondPerKey,
  windowMs: RATE_WINDOW_MS,
  message: () => 'rate limit exceeded',
};

const maxParam = (defaultMax: number) =>
  integerParam({
    description: `Largest number of posts, 1 to ${MAX_POSTS}. Default ${defaultMax}.`,
    invalid: `max must be between 1 and ${MAX_POSTS}`,
    min: 1,
    max: MAX_POSTS,
    status: 422,
    example: defaultMax,
  }).default(defaultMax);

const handleParam = parsedText(
  { parse: (text) => (HANDLE.test(text) ? text : undefined), invalid: 'Invalid handle', status: 422 },
  { type: 'string', description: 'Handle without @: letters, digits, underscores.', example: 'quietfox' },
);

const pageFields = {
  tweets: z.array(postSchema).meta({ description: 'Newest first.' }),
  result_count: z.int().meta({ description: 'Number of posts.' }),
  fetched_at: z.string().meta({ description: 'When the posts were fetched from the platform, ISO 8601 UTC.' }),
  source: z.enum(['platform', 'stored']).meta({
    description:
      '`platform`: fetched now or in the last 30 seconds. `stored`: only posts fetched earlier or recorded, because no platform is configured or it does not search the times of the query.',
  }),
};

const pageBody = ({ posts, fetchedMs, source }: PostPage) => ({
  tweets: [...posts],
  result_count: posts.length,
  fetched_at: new Date(fetchedMs).toISOString().replace(/\.\d{3}Z$/, 'Z'),
  source,
});
const examplePage = {
  tweets: [examplePost],
  result_count: 1,
  fetched_at: '2027-05-22T20:01:00Z',
  source: 'platform' as const,
};

const common = {
  method: 'get',
  apiGroup: 'v2x',
  tag: 'Social posts',
  auth: 'key',
  feature: 'v2x',
} as const;
const LIMITS =
  'At most one request per second and key. Only successful responses count against the searches of the calendar month (UTC); `X-Quota-Used` and `X-Quota-Limit` are on them and on 429.';
const unprocessable = (message: string) => ({
  422: { description: 'A parameter is out of range.', schema: errorSchema, example: { error: message } },
});

function queryFrom(text: string): Query {
  try {
    return parseQuery(text);
  } catch (error) {
    if (!(error instanceof QuerySyntaxError)) throw error;
    const { position, message } = error;
    throw new ApiError({
      kind: 'bad_parameter',
      message: `Invalid query at character ${position}: ${message}`,
      fields: { position },
    });
  }
}

/** GET /v2/x/search and /v2/x/user/{handle}/tweets: social posts. */
export function createSocialRoutes(deps: {
  readonly posts: SocialPosts;
  readonly quota: SearchQuota;
  readonly rateLimitStore: RateLimitStore;
}): readonly Route[] {
  /** Applies both limits and counts `work` if it succeeds. */
  const limited = async <T>(context: RequestContext, work: () => Promise<T>) => {
    const { caller, nowMs } = context;
    if (caller === null) throw new ApiError({ kind: 'missing_key' });
    const quota = await deps.quota.read(caller, nowMs);
    await enforceFeatureLimit(deps.rateLimitStore, rateLimit, context, quotaHeaders(quota));
    const { result, used } = await deps.quota.spend(caller, quota, nowMs, work);
    return { result, headers: quotaHeaders({ used, limit: quota.limit }) };
  };

  const search = defineRoute({
    ...common,
    path: '/v2/x/search',
    summary: 'Search social posts',
    description: [
      'Words, `"exact phrases"`, `#hashtags`, `$cashtags`, `@mentions`, `from:`, `to:`, `since:` and `until:` (YYYY-MM-DD, UTC; until is exclusive), `min_faves:`, `min_retweets:`, `min_replies:`, `lang:`, `filter:media`, `filter:links`, `filter:replies`. Parts side by side must all match; `OR` separates alternatives and binds less; `-` excludes; parentheses group. Letter case does not matter. Each alternative needs something to search for: a word, phrase, tag, mention, author or addressee.',
      'Newest first, without pages. An error of the query names the character at which it was found (`position`, from 1).',
      LIMITS,
    ].join('\n\n'),
    query: z.object({
      q: requiredText('q').meta({
        description: `The query, at most ${MAX_QUERY_LENGTH} characters.`,
        example: 'from:quietfox odds',
      }),
      max: maxParam(20),
    }),
    success: {
      description: 'Posts that match',
      schema: z.object({ query: z.string().meta({ description: 'The query as sent.' }), ...pageFields }),
      example: { query: 'from:quietfox odds', ...examplePage },
    },
    otherResponses: unprocessable('max must be between 1 and 50'),
    async handler({ query: { q, max } }, context) {
      if (q.trim() === '')
        throw new ApiError({ kind: 'bad_parameter', message: "Missing required query parameter 'q'" });
      const query = queryFrom(q);
      const { result, headers } = await limited(context, () => deps.posts.search(query, max));
      return { body: { query: q, ...pageBody(result) }, headers };
    },
  });

  const timeline = defineRoute({
    ...common,
    path: '/v2/x/user/{handle}/tweets',
    summary: 'Posts of a user',
    description: `Posts, reposts, quotes and replies of a user, newest first, without pages. 404 if there is no such user, or none whose posts are public.\n\n${LIMITS}`,
    params: z.object({ handle: handleParam }),
    query: z.object({ max: maxParam(30) }),
    success: {
      description: 'Posts of the user',
      schema: z.object({ handle: z.string().meta({ description: 'The handle as sent.' }), ...pageFields }),
      example: { handle: 'quietfox', ...examplePage },
    },
    otherResponses: {
      ...unprocessable('Invalid handle'),
      ...notFoundResponse('No such user.', 'Handle not found'),
    },
    async handler({ params: { handle }, query: { max } }, context) {
      const { result, headers } = await limited(context, async () => {
        const page = await deps.posts.timeline(handle, max);
        if (page === null) throw notFound('Handle not found');
        return page;
      });
      return { body: { handle, ...pageBody(result) }, headers };
    },
  });
  return [search, timeline];
}
