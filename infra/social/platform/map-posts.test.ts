import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { platformTime } from '../../../schemas/social/post.js';
import { mapPage } from './map-posts.js';
import { pageResponse } from './response.js';
import { articleMarkdown, readableText } from './text.js';

const recorded = (name: string) => {
  const path = new URL(`../../../tests/recorded/set/social/${name}.json`, import.meta.url);
  return mapPage(pageResponse.parse(JSON.parse(readFileSync(path, 'utf8'))), 1_000);
};
const bodies = (name: string) => recorded(name).posts.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
const byNumber = (n: number) =>
  bodies('synthetic').find(({ id }) => id === String(9_100_000_000_000_000_000n + BigInt(n))) ?? {};

describe('mapPage', () => {
  it('reads recorded posts of the platform', () => {
    const page = recorded('search');
    expect([page.posts.length, page.rejected]).toEqual([7, []]);
    const independent = bodies('search').find(
      ({ author }) => (author as { username: string }).username === 'Independent',
    );
    const link =
      'https://www.independent.co.uk/travel/news-and-advice/air-canada-flight-turbulence-plane-hawaii-landing-vancouver-sydney-a9001731.html?utm_medium=Social&utm_source=Twitter#Echobox=1562921543';
    expect(independent).toEqual({
      id: '1149602393828364294',
      text: `Passengers violently ejected from their seats on turbulent flight ${link}`,
      created_at: 'Fri Jul 12 08:52:23 +0000 2019',
      public_metrics: {
        retweet_count: 16,
        reply_count: 0,
        like_count: 28,
        quote_count: 0,
        bookmark_count: 0,
        impression_count: '0',
      },
      author: { id: '16973333', name: 'The Independent', username: 'Independent' },
      conversation_id: '1149602393828364294',
      urls: [
        {
          url: 'https://t.co/lf6TX6XBHD',
          expanded_url: link,
          display_url: 'independent.co.uk/travel/news-an…',
        },
      ],
    });
  });

  it('drops the links of media from the text and takes the best MP4', () => {
    expect(byNumber(3)).toMatchObject({
      text: 'Synthetic sample: volume by the hour, with the spread of the last five minutes beside it. $BTC #volume',
      media: [
        {
          type: 'video',
          url: 'https://media.example/volume.jpg',
          expanded_url: 'https://x.com/oddstream_sample/status/9100000000000000003/video/1',
          video_url: 'https://media.example/volume-2176k.mp4',
        },
      ],
    });
    expect(byNumber(3)).not.toHaveProperty('urls');
    expect(byNumber(4)).toMatchObject({
      media: [{ type: 'animated_gif', video_url: 'https://media.example/book.mp4' }],
    });
  });

  it('prefers the final address, resolves HTML escapes and makes a card of the linked page', () => {
    expect(byNumber(2)).toMatchObject({
      text: 'Synthetic sample: odds moved from 38% to 41% & back within the hour https://news.example/odds-moved #odds',
      card: {
        name: 'summary_large_image',
        url: 'https://news.example/odds-moved',
        title: 'Odds moved to 41%',
        description: 'What moved the market this morning',
        domain: 'news.example',
        thumbnail_url: 'https://news.example/odds.png',
      },
    });
  });

  it('includes the quoted post, and the whole text of a repost', () => {
    expect(byNumber(6)).toMatchObject({ quoted_tweet: byNumber(2) });
    expect(byNumber(5)).toMatchObject({
      text: `RT @oddstream_sample: ${byNumber(3).text}`,
      media: byNumber(3).media,
      author: { username: 'sample_reader' },
    });
    expect(byNumber(6)).not.toHaveProperty('card');
  });

  it('writes an article as Markdown', () => {
    expect(byNumber(8).article).toBe(
      '# How a five-minute market settles\n\n![](<https://media.example/cover.jpg>)\n\nThe price to beat is the first oracle tick of the window.\n\nThe market resolves Up if the last tick is not below it.',
    );
  });

  it('records what queries need', () => {
    const posts = recorded('synthetic').posts;
    const flags = (n: number) => posts.find(({ id }) => id.endsWith(`000${n}`));
    expect(flags(7)).toMatchObject({ is_reply: true, reply_to_username: 'oddstream_sample', is_repost: false });
    expect(flags(5)).toMatchObject({ is_repost: true, retweet_count: 7, like_count: 0 });
    expect(flags(2)).toMatchObject({ has_links: true, has_media: false, lang: 'en', fetched_at_ms: 1_000 });
  });

  it('reads the newer names of the same fields', () => {
    const user = { id: '1', name: 'A', username: 'a' };
    const common = { author_id: '1', created_at: '2026-05-22T20:00:11.000Z' };
    const page = mapPage(
      {
        data: [
          {
            ...common,
            id: '11',
            text: 'short…',
            note_post: { text: 'the whole text' },
            public_metrics: { repost_count: 4 },
            referenced_posts: [{ type: 'quoted', id: '10' }],
          },
        ],
        includes: { users: [user], posts: [{ ...common, id: '10', text: 'before' }] },
      },
      0,
    );
    expect(JSON.parse(page.posts[0]?.body ?? '')).toMatchObject({
      text: 'the whole text',
      public_metrics: { retweet_count: 4, impression_count: '0' },
      quoted_tweet: { id: '10', text: 'before' },
    });
    expect(page.referenced.map(({ id }) => id)).toEqual(['10']);
  });

  it('rejects posts without their author, and those of another form, with a reason', () => {
    // Responses without expansions name no authors.
    const bare = {
      id: '1578516068309794817',
      text: '2022-10-07 22:42:12.637103 tweepy',
      edit_history_tweet_ids: ['1'],
    };
    const orphan = { id: '5', text: 'x', author_id: '9', created_at: '2026-05-22T20:00:11.000Z' };
    const page = mapPage({ data: [bare, orphan, null] }, 0);
    expect(page.posts).toEqual([]);
    expect(page.rejected.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^created_at: /),
      'its author is not included',
      expect.stringMatching(/^: /),
    ]);
  });
});

describe('readableText', () => {
  it('counts code points, keeps entities that are off their link, and works on several links', () => {
    const link = (start: number, url: string, target: string) => ({
      start,
      end: start + url.length,
      url,
      expanded_url: target,
    });
    expect(
      readableText('🙂 a &lt; b https://t.co/1 🙂 https://t.co/2 &amp;lt;', [
        link(28, 'https://t.co/2', 'https://b.example/?x=1&amp=2'),
        link(11, 'https://t.co/1', 'https://a.example'),
      ]),
    ).toBe('🙂 a < b https://a.example 🙂 https://b.example/?x=1&amp=2 &lt;');
    expect(readableText('see https://t.co/1', [link(3, 'https://t.co/1', 'https://a.example')])).toBe(
      'see https://t.co/1',
    );
  });
});

describe('articleMarkdown', () => {
  it('escapes what Markdown would read as formatting', () => {
    expect(articleMarkdown({ title: 'A *bold* title', text: '# not a heading\n1. not a list\n\n<b>' })).toBe(
      '# A \\*bold\\* title\n\n\\# not a heading\n\n1\\. not a list\n\n\\<b\\>',
    );
    expect(articleMarkdown({ text: ' \n' })).toBeNull();
  });
});

it('platformTime is the native format in UTC', () => {
  expect(platformTime(Date.UTC(2026, 4, 22, 20, 0, 11))).toBe('Fri May 22 20:00:11 +0000 2026');
  expect(platformTime(Date.UTC(2026, 0, 3, 4, 5, 6))).toBe('Sat Jan 03 04:05:06 +0000 2026');
});
