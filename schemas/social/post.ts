/** A post as served. `created_at` is in the platform's format; counts are as of the time the post was fetched. */
export interface PostBody {
  readonly id: string;
  readonly text: string;
  readonly created_at: string;
  readonly public_metrics: {
    readonly retweet_count: number;
    readonly reply_count: number;
    readonly like_count: number;
    readonly quote_count: number;
    readonly bookmark_count: number;
    readonly impression_count: string;
  };
  readonly author: { readonly id: string; readonly name: string; readonly username: string };
  readonly conversation_id: string;
  readonly urls?: PostUrl[];
  readonly media?: PostMedia[];
  readonly card?: PostCard;
  readonly quoted_tweet?: PostBody;
  /** Markdown. */
  readonly article?: string;
}

export interface PostUrl {
  readonly url: string;
  readonly expanded_url: string;
  readonly display_url: string;
  readonly title?: string;
  readonly description?: string;
}

export interface PostMedia {
  readonly type: 'photo' | 'video' | 'animated_gif';
  readonly url: string;
  readonly expanded_url?: string;
  /** MP4 with the highest bit rate; videos and GIFs only. */
  readonly video_url?: string;
}

export interface PostCard {
  readonly name: string;
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly domain: string;
  readonly thumbnail_url?: string;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** A time in the platform's format, in UTC: `Fri May 22 20:00:11 +0000 2026`. */
export function platformTime(timeMs: number): string {
  const date = new Date(timeMs);
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${two(date.getUTCDate())} ${time} +0000 ${date.getUTCFullYear()}`;
}
