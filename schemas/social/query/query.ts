/** A condition on one post. */
export type Condition =
  /** A term of the post's document (see PostDocument.terms). */
  | { readonly type: 'term'; readonly kind: TermKind; readonly value: string }
  /** Two or more words in direct succession. */
  | { readonly type: 'phrase'; readonly words: readonly string[] }
  /** Posts at or after this time. */
  | { readonly type: 'since'; readonly timeMs: number }
  /** Posts before this time. */
  | { readonly type: 'until'; readonly timeMs: number }
  | { readonly type: 'min'; readonly metric: Metric; readonly count: number };

export type TermKind = 'word' | 'hashtag' | 'cashtag' | 'mention' | 'from' | 'to' | 'lang' | 'filter';
export type Metric = 'likes' | 'retweets' | 'replies';

/** A parsed query. Only conditions are negated; `all` and `any` have at least two parts, none of which has the same type. */
export type Query =
  | Condition
  | { readonly type: 'not'; readonly part: Condition }
  | { readonly type: 'all' | 'any'; readonly parts: readonly Query[] };

const TERM_PREFIX: Readonly<Record<TermKind, string>> = {
  word: '',
  hashtag: '#',
  cashtag: '$',
  mention: '@',
  from: 'from:',
  to: 'to:',
  lang: 'lang:',
  filter: 'filter:',
};

/** The term in the form of PostDocument.terms. */
export const termText = (term: { readonly kind: TermKind; readonly value: string }): string =>
  `${TERM_PREFIX[term.kind]}${term.value}`;

/** Joins parts of one type, so that nested ones become one list and single ones stand alone. */
export function combine(type: 'all' | 'any', parts: readonly Query[]): Query {
  const flat = parts.flatMap((part) => (part.type === type ? part.parts : [part]));
  const [first] = flat;
  return flat.length === 1 && first !== undefined ? first : { type, parts: flat };
}

/** The negation of a query, with the negations at its conditions. */
export function negate(query: Query): Query {
  switch (query.type) {
    case 'all':
      return combine('any', query.parts.map(negate));
    case 'any':
      return combine('all', query.parts.map(negate));
    case 'not':
      return query.part;
    default:
      return { type: 'not', part: query };
  }
}

const TEXT_KINDS: ReadonlySet<TermKind> = new Set<TermKind>(['word', 'hashtag', 'cashtag', 'mention', 'from', 'to']);

/** Whether every match contains a word, tag, mention, author or addressee of the query; the platform searches nothing else. */
export function hasSearchTerm(query: Query): boolean {
  switch (query.type) {
    case 'all':
      return query.parts.some(hasSearchTerm);
    case 'any':
      return query.parts.every(hasSearchTerm);
    case 'term':
      return TEXT_KINDS.has(query.kind);
    default:
      return query.type === 'phrase';
  }
}
