import type { SocialPost } from '../types.gen.js';
import { wordsOf } from './words.js';

/** What queries are evaluated on. The table has one column per field. */
export interface PostDocument {
  /**
   * Each word of the text, each hashtag `#x`, cashtag `$x` and mention `@x`, and `from:`, `to:`, `lang:` and `filter:` terms. All in lower case; words contain no
   * sign and no colon, so that terms of different kinds differ.
   */
  readonly terms: readonly string[];
  /** The words of the text in order, each between spaces, so that a phrase is a substring. */
  readonly words: string;
  readonly createdMs: number;
  readonly likes: number;
  readonly retweets: number;
  readonly replies: number;
}

/** The search document of a post. Pure. */
export function postDocument(post: SocialPost): PostDocument {
  const words = wordsOf(post.text);
  const terms = new Set<string>();
  for (const { sign, word } of words) {
    terms.add(word);
    if (sign !== '') terms.add(`${sign}${word}`);
  }
  terms.add(`from:${post.author_username.toLowerCase()}`);
  if (post.reply_to_username !== '') terms.add(`to:${post.reply_to_username.toLowerCase()}`);
  if (post.lang !== '') terms.add(`lang:${post.lang.toLowerCase()}`);
  if (post.has_media) terms.add('filter:media');
  if (post.has_links) terms.add('filter:links');
  if (post.is_reply) terms.add('filter:replies');
  return {
    terms: [...terms],
    words: ` ${words.map(({ word }) => word).join(' ')} `,
    createdMs: post.created_at_ms,
    likes: post.like_count,
    retweets: post.retweet_count,
    replies: post.reply_count,
  };
}
