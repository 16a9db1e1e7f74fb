import { z } from 'zod';

const url = z.object({
  url: z.string().meta({ description: 'Short link as posted.' }),
  expanded_url: z.string().meta({ description: 'Final address of the short link.' }),
  display_url: z.string().meta({ description: 'Address as the platform shows it.' }),
  title: z.string().optional().meta({ description: 'Title of the linked page.' }),
  description: z.string().optional().meta({ description: 'Description of the linked page.' }),
});

const media = z.object({
  type: z.enum(['photo', 'video', 'animated_gif']),
  url: z.string().meta({ description: 'The image, or the preview image of a video or GIF.' }),
  expanded_url: z.string().optional().meta({ description: 'Page of the media on the platform.' }),
  video_url: z.string().optional().meta({ description: 'MP4 with the highest bit rate; videos and GIFs only.' }),
});

const card = z.object({
  name: z.string().meta({ description: '`summary` or `summary_large_image`.' }),
  url: z.string().meta({ description: 'The page that the card previews.' }),
  title: z.string().meta({ description: 'Title of the page.' }),
  description: z.string().meta({ description: 'Description of the page.' }),
  domain: z.string().meta({ description: 'Host name of the page.' }),
  thumbnail_url: z.string().optional().meta({ description: 'Image of the page.' }),
});

const metric = (what: string) => z.int().meta({ description: `Number of ${what} when the post was fetched.` });

const fields = {
  id: z.string().meta({ description: 'Id of the post, decimal digits.' }),
  text: z.string().meta({ description: 'Text with short links replaced by their final addresses.' }),
  created_at: z.string().meta({ description: "Time of the post in the platform's format, UTC." }),
  public_metrics: z.object({
    retweet_count: metric('reposts'),
    reply_count: metric('replies'),
    like_count: metric('likes'),
    quote_count: metric('quotes'),
    bookmark_count: metric('bookmarks'),
    impression_count: z.string().meta({ description: 'Number of views as the platform counts them.' }),
  }),
  author: z.object({
    id: z.string().meta({ description: 'Id of the user, decimal digits.' }),
    name: z.string().meta({ description: 'Display name.' }),
    username: z.string().meta({ description: 'Handle without @.' }),
  }),
  conversation_id: z.string().meta({ description: 'Id of the first post of the thread.' }),
  urls: z.array(url).optional().meta({ description: 'Links of the text.' }),
  media: z.array(media).optional().meta({ description: 'Photos, videos and GIFs of the post.' }),
  card: card.optional().meta({ description: 'Preview of the first linked page that has a title.' }),
  article: z.string().optional().meta({ description: 'Long-form article as Markdown.' }),
};

/** The platform includes a quoted post, and sometimes the one that this quotes. */
const innermost = z.object(fields);
const quoted = z.object({ ...fields, quoted_tweet: innermost.optional().meta({ description: 'The quoted post.' }) });

export const postSchema = z.object({
  ...fields,
  quoted_tweet: quoted.optional().meta({ description: 'The quoted post, of the same form.' }),
});

export const examplePost = {
  id: '2900000000000000001',
  text: 'Odds moved to 41% https://news.example/a',
  created_at: 'Sat May 22 20:00:11 +0000 2027',
  public_metrics: {
    retweet_count: 3,
    reply_count: 1,
    like_count: 12,
    quote_count: 0,
    bookmark_count: 2,
    impression_count: '904',
  },
  author: { id: '31', name: 'Quiet Fox', username: 'quietfox' },
  conversation_id: '2900000000000000001',
  urls: [
    {
      url: 'https://t.co/x',
      expanded_url: 'https://news.example/a',
      display_url: 'news.example/a',
      title: 'A',
      description: 'B',
    },
  ],
};
