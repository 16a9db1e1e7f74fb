import { column, type PublicView, TIME } from './spec.js';

const socialPosts: PublicView = {
  name: 'social_posts',
  summary: 'One row per social post that a request or the recording has brought, as of its last fetch.',
  key: ['post_id'],
  fastBy: ['posted_at'],
  freshness: 'Seconds behind the request that fetched it.',
  caveat:
    'Not all posts of the platform: only those that searches and timelines returned, and posts that these quote, repost or reply to. Counts are as of fetched_at; deleted posts stay.',
  columns: [
    column('post_id', 'String', 'p.id', 'Id of the post, decimal digits.'),
    column('posted_at', TIME, 'p.created_at', 'When it was posted, UTC.'),
    column('fetched_at', TIME, 'p.fetched_at', 'When it was last fetched, UTC.'),
    column('author_id', 'String', 'p.author_id', 'Id of the user, decimal digits.'),
    column('author', 'String', 'p.author_username', 'Handle without @, as written by its user.'),
    column('author_name', 'String', 'p.author_name', 'Display name.'),
    column('text', 'String', 'p.text', 'Text with short links replaced by their final addresses.'),
    column('lang', 'String', 'p.lang', "Language code of the platform; '' if unknown."),
    column('conversation_id', 'String', 'p.conversation_id', 'Id of the first post of the thread.'),
    column(
      'reply_to',
      'String',
      'p.reply_to_username',
      "Handle that it replies to; '' if it is no reply or the user is unknown.",
    ),
    column('is_reply', 'Bool', 'p.is_reply', 'Whether it is a reply.'),
    column('is_repost', 'Bool', 'p.is_repost', 'Whether it repeats another post.'),
    column('has_media', 'Bool', 'p.has_media', 'Whether it has photos, videos or GIFs.'),
    column('has_links', 'Bool', 'p.has_links', 'Whether its text has links.'),
    column('likes', 'UInt64', 'p.likes', 'Number of likes.'),
    column('reposts', 'UInt64', 'p.retweets', 'Number of reposts.'),
    column('replies', 'UInt64', 'p.replies', 'Number of replies.'),
    column(
      'terms',
      'Array(String)',
      'p.terms',
      'In lower case: words of the text, its #hashtags, $cashtags and @mentions, and from:, to:, lang: and filter: as queries have them.',
    ),
  ],
  from: 'social_posts AS p FINAL',
};

export const socialViews: readonly PublicView[] = [socialPosts];
