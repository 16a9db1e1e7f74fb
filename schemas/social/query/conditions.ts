import { wordsOf } from '../words.js';
import type { Condition, Metric } from './query.js';
import { QuerySyntaxError } from './tokens.js';

const HANDLE = /^[A-Za-z0-9_]{1,50}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$/;
const COUNT = /^\d{1,12}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const FILTERS = ['media', 'links', 'replies'] as const;

type ReadValue = (value: string, name: string, position: number) => Condition;

const handleOf =
  (kind: 'from' | 'to'): ReadValue =>
  (value, name, position) => {
    const handle = value.replace(/^@/, '');
    if (!HANDLE.test(handle))
      throw new QuerySyntaxError(`${name}: needs a handle: letters, digits, underscores`, position);
    return { type: 'term', kind, value: handle.toLowerCase() };
  };
const timeOf =
  (type: 'since' | 'until'): ReadValue =>
  (value, name, position) => {
    const timeMs = DAY.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
    // Date.parse accepts February 30 as a day of March.
    if (Number.isNaN(timeMs) || !new Date(timeMs).toISOString().startsWith(value))
      throw new QuerySyntaxError(`${name}: needs a day as YYYY-MM-DD`, position);
    return { type, timeMs };
  };
const minOf =
  (metric: Metric): ReadValue =>
  (value, name, position) => {
    if (!COUNT.test(value)) throw new QuerySyntaxError(`${name}: needs a whole number`, position);
    return { type: 'min', metric, count: Number(value) };
  };

const OPERATORS: Readonly<Record<string, ReadValue>> = {
  from: handleOf('from'),
  to: handleOf('to'),
  since: timeOf('since'),
  until: timeOf('until'),
  min_faves: minOf('likes'),
  min_retweets: minOf('retweets'),
  min_replies: minOf('replies'),
  lang: (value, name, position) => {
    if (!LANGUAGE.test(value)) throw new QuerySyntaxError(`${name}: needs a language code, e.g. en`, position);
    return { type: 'term', kind: 'lang', value: value.toLowerCase() };
  },
  filter: (value, name, position) => {
    const filter = FILTERS.find((one) => one === value.toLowerCase());
    if (filter === undefined) throw new QuerySyntaxError(`${name}: needs one of ${FILTERS.join(', ')}`, position);
    return { type: 'term', kind: 'filter', value: filter };
  },
};

/** Spellings of other search languages, each with the one of this language. */
const OTHER_SPELLINGS: Readonly<Record<string, string>> = {
  has: 'filter:media or filter:links',
  is: 'filter:replies',
  url: 'the words of the address',
  min_likes: 'min_faves:',
  min_reposts: 'min_retweets:',
  start_time: 'since:',
  end_time: 'until:',
  since_time: 'since:',
  until_time: 'until:',
};

const OPERATOR = /^([a-z][a-z_]*):(.*)$/isu;
const SIGNED = /^([#$@])([\p{L}\p{M}\p{N}_]+)$/u;
const SIGNED_KINDS = { '#': 'hashtag', $: 'cashtag', '@': 'mention' } as const;

/** The words of a text in direct succession. Throws QuerySyntaxError if there are none. */
export function phraseOf(text: string, position: number): Condition {
  const words = wordsOf(text).map(({ word }) => word);
  const [first] = words;
  if (first === undefined) throw new QuerySyntaxError('needs a letter or digit', position);
  return words.length === 1 ? { type: 'term', kind: 'word', value: first } : { type: 'phrase', words };
}

/** The condition of a text without quotation marks and spaces. Throws QuerySyntaxError for unknown operators and their wrong values. */
export function conditionOf(text: string, position: number): Condition {
  const [, spelled, value] = OPERATOR.exec(text) ?? [];
  if (spelled !== undefined && value !== undefined && !/^https?$/i.test(spelled)) {
    const name = spelled.toLowerCase();
    if (Object.hasOwn(OPERATORS, name)) {
      if (value === '') throw new QuerySyntaxError(`${name}: needs a value directly after the colon`, position);
      return (OPERATORS[name] as ReadValue)(value, name, position);
    }
    const advice = Object.hasOwn(OTHER_SPELLINGS, name)
      ? `use ${OTHER_SPELLINGS[name]}`
      : `known are ${Object.keys(OPERATORS)
          .map((known) => `${known}:`)
          .join(', ')}; put other text into quotation marks`;
    throw new QuerySyntaxError(`unknown operator '${name.slice(0, 40)}:': ${advice}`, position);
  }
  const [, sign, tag] = SIGNED.exec(text.normalize('NFKC').toLowerCase()) ?? [];
  if (sign !== undefined && tag !== undefined)
    return { type: 'term', kind: SIGNED_KINDS[sign as keyof typeof SIGNED_KINDS], value: tag };
  return phraseOf(text, position);
}
