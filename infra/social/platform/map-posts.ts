import type { z } from 'zod';
import { type PostBody, type PostMedia, platformTime } from '../../../schemas/social/post.js';
import type { SocialPost } from '../../../schemas/types.gen.js';
import {
  type PageResponse,
  type RawMedia,
  type RawPost,
  type RawUser,
  rawMedia,
  rawPost,
  rawUser,
  type UrlEntity,
} from './response.js';
import { articleMarkdown, readableText, targetOf } from './text.js';

/** A post of a response that cannot be read. */
export interface RejectedPost {
  readonly reason: string;
  /** JSON as received. */
  readonly payload: string;
}

export interface MappedPage {
  /** The posts of the page, in its order. */
  readonly posts: readonly SocialPost[];
  /** Posts that those quote, repost or reply to. */
  readonly referenced: readonly SocialPost[];
  readonly rejected: readonly RejectedPost[];
}

/** The platform includes one level of quoted posts. */
const MAX_QUOTE_DEPTH = 2;
const STATUS_URL = /^https?:\/\/(?:www\.)?(?:x|twitter)\.com\/\w+\/status\//;

const referencesOf = (post: RawPost) => post.referenced_tweets ?? post.referenced_posts ?? [];
const referenceOf = (post: RawPost, ...types: readonly string[]): string | undefined =>
  referencesOf(post).find(({ type }) => types.includes(type))?.id;

const bestMp4 = (media: RawMedia): string | undefined =>
  (media.variants ?? [])
    .filter((variant) => variant.content_type === 'video/mp4' && variant.url !== undefined)
    .sort((a, b) => (b.bit_rate ?? 0) - (a.bit_rate ?? 0))[0]?.url;

const imageOf = (media: RawMedia | undefined): string | undefined => media?.url ?? media?.preview_image_url;

function servedMedia(media: RawMedia, link: UrlEntity | undefined): PostMedia {
  const video = media.type === 'photo' ? undefined : bestMp4(media);
  return {
    type: media.type,
    url: imageOf(media) ?? '',
    ...(link === undefined ? {} : { expanded_url: targetOf(link) }),
    ...(video === undefined ? {} : { video_url: video }),
  };
}

function cardOf(urls: readonly UrlEntity[]): PostBody['card'] {
  const url = urls.find((one) => one.title !== undefined && one.title !== '' && !STATUS_URL.test(targetOf(one)));
  if (url === undefined) return undefined;
  const target = targetOf(url);
  const image = url.images?.[0]?.url;
  return {
    name: image === undefined ? 'summary' : 'summary_large_image',
    url: target,
    title: url.title ?? '',
    description: url.description ?? '',
    domain: URL.canParse(target) ? new URL(target).hostname : '',
    ...(image === undefined ? {} : { thumbnail_url: image }),
  };
}

/** Parses the items of a list; the readable ones by key. */
function readable<S extends z.ZodType>(
  schema: S,
  items: readonly unknown[] | undefined,
  keyOf: (item: z.output<S>) => string,
): Map<string, z.output<S>> {
  const found = new Map<string, z.output<S>>();
  for (const item of items ?? []) {
    const parsed = schema.safeParse(item);
    if (parsed.success) found.set(keyOf(parsed.data), parsed.data);
  }
  return found;
}

/**
 * Converts a page of the platform's API v2 to the posts that are served. Posts without their author, and those that cannot be read, are in `rejected`. Pure.
 */
export function mapPage(response: PageResponse, fetchedMs: number): MappedPage {
  const { includes = {} } = response;
  const users = readable(rawUser, includes.users, ({ id }) => id) as Map<string, RawUser>;
  const media = readable(rawMedia, includes.media, ({ media_key }) => media_key) as Map<string, RawMedia>;
  const others = readable(rawPost, includes.tweets ?? includes.posts, ({ id }) => id) as Map<string, RawPost>;

  /** Text, links and media of a post; of a repost, whose own text is cut, those of the post that it repeats. */
  const contentOf = (post: RawPost) => {
    const reposted = others.get(referenceOf(post, 'retweeted', 'reposted') ?? '');
    const author = reposted === undefined ? undefined : users.get(reposted.author_id);
    const source = reposted !== undefined && author !== undefined ? reposted : post;
    const note = source.note_tweet ?? source.note_post;
    const links = (note?.entities ?? source.entities)?.urls ?? [];
    // Titles are only in the entities of the short text.
    const described = new Map((source.entities?.urls ?? []).map((url) => [url.url, url]));
    const urls = links
      .filter((url) => url.media_key === undefined)
      .map((url) => ({ ...described.get(url.url), ...url }));
    const mediaLinks = [...links, ...described.values()].filter((url) => url.media_key !== undefined);
    const text = readableText(note?.text ?? source.text, links);
    return {
      source,
      text: source === reposted && author !== undefined ? `RT @${author.username}: ${text}` : text,
      urls,
      media: (source.attachments?.media_keys ?? []).flatMap((key) => {
        const found = media.get(key);
        return found === undefined
          ? []
          : [
              servedMedia(
                found,
                mediaLinks.find((url) => url.media_key === key),
              ),
            ];
      }),
    };
  };

  const bodyOf = (post: RawPost, author: RawUser, depth: number): PostBody => {
    const { source, text, urls, media: attached } = contentOf(post);
    const metrics = post.public_metrics ?? {};
    const quoted = depth < MAX_QUOTE_DEPTH ? others.get(referenceOf(source, 'quoted') ?? '') : undefined;
    const quotedAuthor = quoted === undefined ? undefined : users.get(quoted.author_id);
    const card = cardOf(urls);
    const article =
      source.article === undefined
        ? null
        : articleMarkdown({
            title: source.article.title,
            text: source.article.plain_text ?? source.article.text,
            coverUrl: imageOf(media.get(source.article.cover_media ?? '')),
          });
    return {
      id: post.id,
      text,
      created_at: platformTime(Date.parse(post.created_at)),
      public_metrics: {
        retweet_count: metrics.retweet_count ?? metrics.repost_count ?? 0,
        reply_count: metrics.reply_count ?? 0,
        like_count: metrics.like_count ?? 0,
        quote_count: metrics.quote_count ?? 0,
        bookmark_count: metrics.bookmark_count ?? 0,
        impression_count: String(metrics.impression_count ?? 0),
      },
      author: { id: author.id, name: author.name, username: author.username },
      conversation_id: post.conversation_id ?? post.id,
      ...(urls.length === 0
        ? {}
        : {
            urls: urls.map((url) => ({
              url: url.url,
              expanded_url: targetOf(url),
              display_url: url.display_url ?? targetOf(url).replace(/^https?:\/\//, ''),
              ...(url.title === undefined ? {} : { title: url.title }),
              ...(url.description === undefined ? {} : { description: url.description }),
            })),
          }),
      ...(attached.length === 0 ? {} : { media: attached }),
      ...(card === undefined ? {} : { card }),
      ...(quoted === undefined || quotedAuthor === undefined
        ? {}
        : { quoted_tweet: bodyOf(quoted, quotedAuthor, depth + 1) }),
      ...(article === null ? {} : { article }),
    };
  };

  const recordOf = (post: RawPost, author: RawUser): SocialPost => {
    const body = bodyOf(post, author, 0);
    const repliedTo = users.get(post.in_reply_to_user_id ?? '');
    return {
      id: body.id,
      author_id: author.id,
      author_username: author.username,
      author_name: author.name,
      text: body.text,
      created_at_ms: Date.parse(post.created_at),
      conversation_id: body.conversation_id,
      fetched_at_ms: fetchedMs,
      body: JSON.stringify(body),
      lang: post.lang ?? '',
      reply_to_username: repliedTo?.username ?? '',
      is_reply: post.in_reply_to_user_id !== undefined || referenceOf(post, 'replied_to') !== undefined,
      is_repost: referenceOf(post, 'retweeted', 'reposted') !== undefined,
      has_media: body.media !== undefined,
      has_links: body.urls !== undefined,
      like_count: body.public_metrics.like_count,
      retweet_count: body.public_metrics.retweet_count,
      reply_count: body.public_metrics.reply_count,
    };
  };

  const posts: SocialPost[] = [];
  const rejected: RejectedPost[] = [];
  for (const item of response.data ?? []) {
    const parsed = rawPost.safeParse(item);
    const author = parsed.success ? users.get(parsed.data.author_id) : undefined;
    if (parsed.success && author !== undefined) posts.push(recordOf(parsed.data, author));
    else {
      const issue = parsed.success ? undefined : parsed.error.issues[0];
      const reason = issue === undefined ? 'its author is not included' : `${issue.path.join('.')}: ${issue.message}`;
      rejected.push({ reason, payload: JSON.stringify(item) });
    }
  }
  const listed = new Set(posts.map(({ id }) => id));
  const referenced = [...others.values()].flatMap((post) => {
    const author = users.get(post.author_id);
    return author === undefined || listed.has(post.id) ? [] : [recordOf(post, author)];
  });
  return { posts, referenced, rejected };
}
