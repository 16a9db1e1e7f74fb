import { postDocument } from '../../schemas/social/document.js';
import { topics } from '../../schemas/topics.js';
import { bool, dateTime64, lowCardinality, string, stringArray, uint64 } from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const postsTable = defineTable('social_posts', {
  id: string,
  created_at: dateTime64,
  fetched_at: dateTime64,
  author_id: string,
  author_username: string,
  author_name: string,
  conversation_id: string,
  text: string,
  lang: lowCardinality,
  reply_to_username: string,
  is_reply: bool,
  is_repost: bool,
  has_media: bool,
  has_links: bool,
  likes: uint64,
  retweets: uint64,
  replies: uint64,
  terms: stringArray,
  words: string,
  body: string,
  _offset: uint64,
});

/** Posts that were fetched from the platform. A later fetch of a post replaces it. */
export const socialSink: SinkDefinition = {
  name: 'social',
  topic: topics.socialPosts,
  plans: topics.plansSocial,
  tables: [postsTable],
  retainsAllRows: false,
  kinds: new Set(['social_post']),
  rows(event, position, emit) {
    if (event.kind !== 'social_post') return;
    const post = event.value;
    const document = postDocument(post);
    emit(postsTable, {
      ...post,
      created_at: post.created_at_ms,
      fetched_at: post.fetched_at_ms,
      likes: post.like_count,
      retweets: post.retweet_count,
      replies: post.reply_count,
      terms: document.terms,
      words: document.words,
      _offset: position.offset,
    });
  },
};
