import { type Condition, combine, hasSearchTerm, type Query } from '../../../schemas/social/query/query.js';

/** A search as the platform understands it. */
export interface SearchRequest {
  readonly text: string;
  /** Inclusive, Unix ms. */
  readonly startMs?: number;
  /** Exclusive, Unix ms. */
  readonly endMs?: number;
  /** What the platform cannot evaluate: a condition on each post that it returns. */
  readonly filter: Query | null;
}

const isLocal = (condition: Condition): boolean =>
  condition.type === 'min' || condition.type === 'since' || condition.type === 'until';

/**
 * The part of a query that the platform evaluates: each match of `query` matches it too. null: nothing. The platform accepts exclusions only
 * beside something that is searched for.
 */
function sendable(query: Query): Query | null {
  switch (query.type) {
    case 'all': {
      const parts = query.parts.flatMap((part) => sendable(part) ?? []);
      return parts.length === 0 ? null : combine('all', parts);
    }
    case 'any': {
      const parts = query.parts.map(sendable);
      return parts.every((part): part is Query => part !== null && hasSearchTerm(part)) ? combine('any', parts) : null;
    }
    case 'not':
      return isLocal(query.part) ? null : query;
    default:
      return isLocal(query) ? null : query;
  }
}

/** Words that are operators if they are not quoted. */
const RESERVED: ReadonlySet<string> = new Set(['or', 'and', 'not']);
const FILTERS: Readonly<Record<string, string>> = { media: 'has:media', links: 'has:links', replies: 'is:reply' };

function conditionText(condition: Condition): string {
  if (condition.type === 'phrase') return `"${condition.words.join(' ')}"`;
  if (condition.type !== 'term') throw new TypeError(`the platform does not evaluate ${condition.type}`);
  const { kind, value } = condition;
  switch (kind) {
    case 'word':
      return RESERVED.has(value) ? `"${value}"` : value;
    case 'hashtag':
      return `#${value}`;
    case 'cashtag':
      return `$${value}`;
    case 'mention':
      return `@${value}`;
    case 'filter':
      return FILTERS[value] ?? '';
    default:
      return `${kind}:${value}`;
  }
}

function queryText(query: Query, nested = false): string {
  switch (query.type) {
    case 'all':
      return nested ? `(${queryText(query)})` : query.parts.map((part) => queryText(part, true)).join(' ');
    case 'any':
      return nested ? `(${queryText(query)})` : query.parts.map((part) => queryText(part, true)).join(' OR ');
    case 'not':
      return `-${conditionText(query.part)}`;
    default:
      return conditionText(query);
  }
}

/**
 * Translates a query: `since:` and `until:` become times, conditions that the platform lacks become the filter. Parts that the platform evaluates completely are not
 * filtered again, because it also searches texts that posts do not show.
 */
export function toSearchRequest(query: Query): SearchRequest {
  const sent: Query[] = [];
  const filtered: Query[] = [];
  let startMs: number | undefined;
  let endMs: number | undefined;
  for (const part of query.type === 'all' ? query.parts : [query]) {
    if (part.type === 'since') startMs = Math.max(startMs ?? part.timeMs, part.timeMs);
    else if (part.type === 'until') endMs = Math.min(endMs ?? part.timeMs, part.timeMs);
    else {
      const reduced = sendable(part);
      if (reduced !== null) sent.push(reduced);
      if (reduced === null || queryText(reduced) !== completeText(part)) filtered.push(part);
    }
  }
  return {
    text: queryText(combine('all', sent)),
    ...(startMs === undefined ? {} : { startMs }),
    ...(endMs === undefined ? {} : { endMs }),
    filter: filtered.length === 0 ? null : combine('all', filtered),
  };
}

/** The text of a part that the platform evaluates completely, else null. */
function completeText(part: Query): string | null {
  const isComplete = (query: Query): boolean => {
    switch (query.type) {
      case 'all':
      case 'any':
        return query.parts.every(isComplete);
      case 'not':
        return !isLocal(query.part);
      default:
        return !isLocal(query);
    }
  };
  return isComplete(part) ? queryText(part) : null;
}
