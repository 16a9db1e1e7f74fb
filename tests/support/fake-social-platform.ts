import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlatformRequest {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** A response of the platform: a JSON body with status 200, or a function that writes it. */
export type PlatformReply = Readonly<Record<string, unknown>> | ((response: ServerResponse) => void);

export interface FakePlatform {
  readonly url: string;
  /** All requests so far. */
  readonly requests: PlatformRequest[];
  /** Replies to the next requests, in order; then 404. */
  replies: PlatformReply[];
  close(): Promise<void>;
}

export const status =
  (
    code: number,
    body: unknown = {},
    headers: Readonly<Record<string, string>> = {},
  ): ((response: ServerResponse) => void) =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Never responds. */
export const silence: PlatformReply = () => undefined;

/** A server in the place of the platform's API v2 that sends scripted replies. */
export async function startFakePlatform(): Promise<FakePlatform> {
  const fake = { requests: [] as PlatformRequest[], replies: [] as PlatformReply[] };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    fake.requests.push({
      path: url.pathname,
      params: Object.fromEntries(url.searchParams),
      authorization: request.headers.authorization,
    });
    const reply = fake.replies.shift() ?? status(404, { title: 'Not Found Error' });
    if (typeof reply === 'function') (reply as (to: ServerResponse) => void)(response);
    else status(200, reply)(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(fake, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/2`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

export interface RawPostOptions {
  readonly id: string;
  readonly text?: string;
  readonly createdAt?: string;
  readonly likes?: number;
  readonly author?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A post in the form of the API v2. */
export const rawPost = ({ id, text = `Odds ${id}`, createdAt, likes = 0, author = '31', more }: RawPostOptions) => ({
  id,
  text,
  created_at: createdAt ?? '2026-05-22T20:00:11.000Z',
  author_id: author,
  conversation_id: id,
  lang: 'en',
  edit_history_tweet_ids: [id],
  public_metrics: {
    retweet_count: 3,
    reply_count: 1,
    like_count: likes,
    quote_count: 0,
    bookmark_count: 2,
    impression_count: 904,
  },
  ...more,
});

/** A page of posts of the user quietfox. */
export const rawPage = (
  posts: readonly Readonly<Record<string, unknown>>[],
  { nextToken, includes = {} }: { nextToken?: string; includes?: Readonly<Record<string, readonly unknown[]>> } = {},
) => ({
  ...(posts.length === 0 ? {} : { data: posts }),
  includes: { ...includes, users: [{ id: '31', name: 'Quiet Fox', username: 'quietfox' }, ...(includes.users ?? [])] },
  meta: { result_count: posts.length, ...(nextToken === undefined ? {} : { next_token: nextToken }) },
});
