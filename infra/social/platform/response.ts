import { z } from 'zod';

const text = z.string().max(200_000);
const id = z.string().regex(/^\d{1,25}$/);
const count = z.number().int().nonnegative();

const urlEntity = z.object({
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  url: text,
  expanded_url: text.optional(),
  unwound_url: text.optional(),
  display_url: text.optional(),
  title: text.optional(),
  description: text.optional(),
  media_key: text.optional(),
  images: z.array(z.object({ url: text })).optional(),
});
export type UrlEntity = z.output<typeof urlEntity>;

const entities = z.object({ urls: z.array(urlEntity).max(100).optional() });
const note = z.object({ text, entities: entities.optional() });
const references = z.array(z.object({ type: z.string(), id })).max(20);

/** A post of the platform's API v2. Its newer version has other names for some fields: both are read. */
export const rawPost = z.object({
  id,
  text,
  created_at: z.iso.datetime(),
  author_id: id,
  conversation_id: id.optional(),
  lang: z.string().max(20).optional(),
  in_reply_to_user_id: id.optional(),
  public_metrics: z
    .object({
      retweet_count: count.optional(),
      repost_count: count.optional(),
      reply_count: count.optional(),
      like_count: count.optional(),
      quote_count: count.optional(),
      bookmark_count: count.optional(),
      impression_count: z.union([count, z.string().max(30)]).optional(),
    })
    .optional(),
  entities: entities.optional(),
  attachments: z.object({ media_keys: z.array(text).max(50).optional() }).optional(),
  referenced_tweets: references.optional(),
  referenced_posts: references.optional(),
  note_tweet: note.optional(),
  note_post: note.optional(),
  article: z
    .object({
      title: text.optional(),
      plain_text: text.optional(),
      text: text.optional(),
      cover_media: text.optional(),
    })
    .optional(),
});
export type RawPost = z.output<typeof rawPost>;

export const rawUser = z.object({ id, name: text, username: z.string().regex(/^\w{1,50}$/) });
export type RawUser = z.output<typeof rawUser>;

export const rawMedia = z.object({
  media_key: text,
  type: z.enum(['photo', 'video', 'animated_gif']),
  url: text.optional(),
  preview_image_url: text.optional(),
  variants: z
    .array(z.object({ content_type: text.optional(), bit_rate: count.optional(), url: text.optional() }))
    .max(50)
    .optional(),
});
export type RawMedia = z.output<typeof rawMedia>;

const list = z.array(z.unknown()).max(2_000).optional();

/** A page of posts. Its items are checked one by one, so that an unreadable one does not hide the others. */
export const pageResponse = z.object({
  data: list,
  includes: z.object({ users: list, media: list, tweets: list, posts: list }).optional(),
  errors: z.array(z.unknown()).optional(),
  meta: z.object({ next_token: text.optional() }).optional(),
});
export type PageResponse = z.output<typeof pageResponse>;

/** A user looked up by handle; `data` is absent if there is none. */
export const userResponse = z.object({ data: rawUser.optional(), errors: z.array(z.unknown()).optional() });

/** Reason of an error response. */
export const problemResponse = z.object({
  detail: text.optional(),
  errors: z.array(z.object({ message: text.optional() })).optional(),
});
