import fc from 'fast-check';
import type { SocialPost } from '../../types.gen.js';

/** A query's text with its meaning, written without the parser: the test of the query language's second implementation. */
export interface NaiveQuery {
  readonly text: string;
  readonly test: (post: SocialPost) => boolean;
  /** Whether every match must contain a word, tag, mention, author or addressee. */
  readonly searchable: boolean;
  /** Whether the negation of the query is searchable. */
  readonly negationSearchable: boolean;
  /** Whether it needs parentheses beside other parts. */
  readonly open: boolean;
}

const VOCABULARY = ['odds', 'fed', 'btc', 'été'];
const NAMES = ['Fox', 'bob_1'];
const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2026, 4, 20);

const decorated = fc
  .tuple(fc.constantFrom('', '', '', '#', '$', '@'), fc.constantFrom(...VOCABULARY), fc.boolean())
  .map(([sign, word, upper]) => `${sign}${upper ? word.toUpperCase() : word}`);

/** Posts of few words, authors and days, so that queries of the same words often match. */
export const naivePost: fc.Arbitrary<SocialPost> = fc.record({
  id: fc.nat(1_000_000).map(String),
  author_id: fc.constant('1'),
  author_username: fc.constantFrom(...NAMES),
  author_name: fc.constant('Name'),
  text: fc
    .array(fc.tuple(decorated, fc.constantFrom(' ', ', ', '! ', ' - ')), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.map(([word, gap]) => word + gap).join('')),
  created_at_ms: fc.integer({ min: 0, max: 4 * 24 }).map((hours) => FIRST_DAY_MS + (hours * DAY_MS) / 24),
  conversation_id: fc.constant('1'),
  fetched_at_ms: fc.constant(Date.UTC(2026, 5, 1)),
  body: fc.constant('{}'),
  lang: fc.constantFrom('en', 'pt', ''),
  reply_to_username: fc.constantFrom('', ...NAMES),
  is_reply: fc.boolean(),
  is_repost: fc.constant(false),
  has_media: fc.boolean(),
  has_links: fc.boolean(),
  like_count: fc.nat(5),
  retweet_count: fc.nat(5),
  reply_count: fc.nat(5),
});

/** The text in lower case with each mark of punctuation replaced by a space, framed by spaces. */
const plain = (text: string): string => ` ${text.toLowerCase().replace(/[^a-zé0-9_#$@]+/g, ' ')} `;
const signless = (text: string): string => plain(text).replace(/[#$@]/g, '').replace(/ +/g, ' ');

const leaf = (text: string, searchable: boolean, test: NaiveQuery['test']): NaiveQuery => ({
  text,
  test,
  searchable,
  negationSearchable: false,
  open: false,
});
const day = fc.integer({ min: 0, max: 4 }).map((days) => FIRST_DAY_MS + days * DAY_MS);
const isoDay = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
const names = fc.constantFrom(...NAMES, 'FOX', 'nobody');

const leaves: fc.Arbitrary<NaiveQuery> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...VOCABULARY, 'ODDS')
      .map((word) => leaf(word, true, ({ text }) => signless(text).includes(` ${word.toLowerCase()} `))),
  },
  fc
    .tuple(fc.constantFrom(...VOCABULARY), fc.constantFrom(...VOCABULARY))
    .map(([a, b]) => leaf(`"${a} ${b}"`, true, ({ text }) => signless(text).includes(` ${a} ${b} `))),
  fc
    .tuple(fc.constantFrom('#', '$', '@'), fc.constantFrom(...VOCABULARY))
    .map(([sign, word]) => leaf(sign + word, true, ({ text }) => plain(text).includes(` ${sign}${word} `))),
  names.map((name) => leaf(`from:${name}`, true, (post) => post.author_username.toLowerCase() === name.toLowerCase())),
  names.map((name) => leaf(`to:${name}`, true, (post) => post.reply_to_username.toLowerCase() === name.toLowerCase())),
  day.map((ms) => leaf(`since:${isoDay(ms)}`, false, (post) => isoDay(post.created_at_ms) >= isoDay(ms))),
  day.map((ms) => leaf(`until:${isoDay(ms)}`, false, (post) => isoDay(post.created_at_ms) < isoDay(ms))),
  fc.nat(5).map((n) => leaf(`min_faves:${n}`, false, (post) => post.like_count >= n)),
  fc.nat(5).map((n) => leaf(`min_retweets:${n}`, false, (post) => post.retweet_count >= n)),
  fc.nat(5).map((n) => leaf(`min_replies:${n}`, false, (post) => post.reply_count >= n)),
  fc.constantFrom('en', 'pt').map((lang) => leaf(`lang:${lang}`, false, (post) => post.lang === lang)),
  fc.constant(leaf('filter:media', false, (post) => post.has_media)),
  fc.constant(leaf('filter:links', false, (post) => post.has_links)),
  fc.constant(leaf('filter:replies', false, (post) => post.is_reply)),
);

const closed = (query: NaiveQuery): string => (query.open ? `(${query.text})` : query.text);

/** Queries of nested AND, OR and NOT over all operators. */
export const naiveQuery: fc.Arbitrary<NaiveQuery> = fc
  .letrec<{ query: NaiveQuery }>((tie) => ({
    query: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 3, arbitrary: leaves },
      {
        weight: 2,
        arbitrary: fc.array(tie('query'), { minLength: 2, maxLength: 3 }).map((parts) => ({
          text: parts.map(closed).join(' '),
          test: (post: SocialPost) => parts.every((part) => part.test(post)),
          searchable: parts.some((part) => part.searchable),
          negationSearchable: parts.every((part) => part.negationSearchable),
          open: true,
        })),
      },
      {
        weight: 2,
        arbitrary: fc.array(tie('query'), { minLength: 2, maxLength: 3 }).map((parts) => ({
          text: parts.map(closed).join(' OR '),
          test: (post: SocialPost) => parts.some((part) => part.test(post)),
          searchable: parts.every((part) => part.searchable),
          negationSearchable: parts.some((part) => part.negationSearchable),
          open: true,
        })),
      },
      {
        weight: 1,
        arbitrary: tie('query').map((part) => ({
          text: `-${closed(part)}`,
          test: (post: SocialPost) => !part.test(post),
          searchable: part.negationSearchable,
          negationSearchable: part.searchable,
          open: false,
        })),
      },
    ),
  }))
  .query.filter(({ text }) => text.length <= 512);
