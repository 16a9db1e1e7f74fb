// Derives set/social/search.json from a recorded search of the platform's API 1.1: node tests/recorded/derive/social.mjs <v1_1_search_tweets_0.json>
// Re-encodes the facts of posts by organisations and programs, in the form of the API v2.
import { readFileSync, writeFileSync } from 'node:fs';

const USERS = new Set(['curated_data', 'PTCruiserBot', 'Apomor', 'Independent', 'YEPSportsdesk', 'Stranger_Things']);
const [source] = process.argv.slice(2);
const { body } = JSON.parse(readFileSync(source, 'utf8'));
const statuses = new Map(
  body.statuses
    .flatMap((status) => [status, status.retweeted_status ?? []].flat())
    .filter((status) => USERS.has(status.user.screen_name))
    .map((status) => [status.id_str, status]),
);
const media = new Map();

const post = (status) => {
  const attached = status.extended_entities?.media ?? [];
  for (const item of attached)
    media.set(`3_${item.id_str}`, {
      media_key: `3_${item.id_str}`,
      type: item.type,
      ...(item.type === 'photo' ? { url: item.media_url_https } : { preview_image_url: item.media_url_https }),
      ...(item.video_info === undefined
        ? {}
        : {
            variants: item.video_info.variants.map(({ bitrate, content_type, url }) => ({
              ...(bitrate === undefined ? {} : { bit_rate: bitrate }),
              content_type,
              url,
            })),
          }),
    });
  const links = [
    ...status.entities.urls.map((url) => ({ ...url, media_key: undefined })),
    ...attached.map((item) => ({ ...item, media_key: `3_${item.id_str}` })),
  ].map(({ indices: [start, end], url, expanded_url, display_url, media_key }) => ({
    start,
    end,
    url,
    expanded_url,
    display_url,
    media_key,
  }));
  return {
    id: status.id_str,
    text: status.text,
    created_at: new Date(status.created_at).toISOString(),
    author_id: status.user.id_str,
    conversation_id: status.id_str,
    lang: status.lang,
    public_metrics: { retweet_count: status.retweet_count, like_count: status.favorite_count },
    ...(links.length === 0 ? {} : { entities: { urls: links } }),
    ...(attached.length === 0 ? {} : { attachments: { media_keys: attached.map(({ id_str }) => `3_${id_str}`) } }),
  };
};

const data = [...statuses.values()].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)).map(post);
const users = new Map([...statuses.values()].map(({ user }) => [user.id_str, user]));
const answer = {
  fetched_at: '2019-07-12T23:45:00.000Z',
  data,
  includes: {
    users: [...users.values()].map(({ id_str, name, screen_name }) => ({ id: id_str, name, username: screen_name })),
    media: [...media.values()],
  },
  meta: { result_count: data.length },
};
writeFileSync(new URL('../set/social/search.json', import.meta.url), `${JSON.stringify(answer, null, 2)}\n`);
