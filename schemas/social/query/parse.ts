import { conditionOf, phraseOf } from './conditions.js';
import { combine, hasSearchTerm, negate, type Query } from './query.js';
import { QuerySyntaxError, type Token, tokensOf } from './tokens.js';

/** Longest query, in characters. */
export const MAX_QUERY_LENGTH = 512;

/**
 * Parses a query:
 *
 *     any       = all *("OR" all)
 *     all       = 1*(["-"] part)
 *     part      = "(" any ")" / word / quoted phrase / #hashtag / $cashtag / @mention / operator:value
 *
 * Operators: from, to, since, until, min_faves, min_retweets, min_replies, lang, filter. Letter case does not matter, except of OR. Throws QuerySyntaxError with
 * the position, also for queries that name nothing to search for, such as those of exclusions only.
 */
export function parseQuery(text: string): Query {
  if ([...text].length > MAX_QUERY_LENGTH)
    throw new QuerySyntaxError(`longer than ${MAX_QUERY_LENGTH} characters`, MAX_QUERY_LENGTH + 1);
  const tokens = tokensOf(text);
  const end = [...text].length + 1;
  let at = 0;

  const parsePart = (token: Token): Query => {
    switch (token.type) {
      case 'not': {
        const next = tokens[at++];
        if (next === undefined) throw new QuerySyntaxError("'-' excludes nothing", token.position);
        return negate(parsePart(next));
      }
      case '(': {
        if (tokens[at]?.type === ')') throw new QuerySyntaxError('the parentheses are empty', token.position);
        const inner = parseAny();
        if (tokens[at]?.type !== ')') throw new QuerySyntaxError('the parenthesis is not closed', token.position);
        at += 1;
        return inner;
      }
      case 'quoted':
        return phraseOf(token.text, token.position);
      case 'text':
        return conditionOf(token.text, token.position);
      case 'or':
        throw new QuerySyntaxError('OR needs something before and after it', token.position);
      case ')':
        throw new QuerySyntaxError('the parenthesis was not opened', token.position);
    }
  };
  /** Why nothing stands at the current token. */
  const nothingHere = (): QuerySyntaxError => {
    const [previous, next] = [tokens[at - 1], tokens[at]];
    if (next === undefined && previous === undefined) return new QuerySyntaxError('is empty', end);
    if (next?.type === ')' && previous === undefined)
      return new QuerySyntaxError('the parenthesis was not opened', next.position);
    if (next === undefined && previous?.type === '(')
      return new QuerySyntaxError('the parenthesis is not closed', previous.position);
    const or = previous?.type === 'or' ? previous : next;
    return new QuerySyntaxError('OR needs something before and after it', or?.position ?? end);
  };
  const parseAll = (): Query => {
    const parts: Query[] = [];
    for (;;) {
      const token = tokens[at];
      if (token === undefined || token.type === 'or' || token.type === ')') break;
      at += 1;
      parts.push(parsePart(token));
    }
    if (parts.length === 0) throw nothingHere();
    return combine('all', parts);
  };
  function parseAny(): Query {
    const parts = [parseAll()];
    while (tokens[at]?.type === 'or') {
      at += 1;
      parts.push(parseAll());
    }
    return combine('any', parts);
  }

  const query = parseAny();
  const rest = tokens[at];
  if (rest !== undefined) throw new QuerySyntaxError('the parenthesis was not opened', rest.position);
  if (!hasSearchTerm(query))
    throw new QuerySyntaxError(
      'needs a word, phrase, #hashtag, $cashtag, @mention, from: or to: in every branch of OR; the other operators and exclusions only narrow a search',
      1,
    );
  return query;
}
