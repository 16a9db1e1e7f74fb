import type { PostDocument } from '../document.js';
import { type Query, termText } from './query.js';

/** Whether a post matches a query. */
export function matches(query: Query, post: PostDocument): boolean {
  switch (query.type) {
    case 'all':
      return query.parts.every((part) => matches(part, post));
    case 'any':
      return query.parts.some((part) => matches(part, post));
    case 'not':
      return !matches(query.part, post);
    case 'term':
      return post.terms.includes(termText(query));
    case 'phrase':
      return post.words.includes(` ${query.words.join(' ')} `);
    case 'since':
      return post.createdMs >= query.timeMs;
    case 'until':
      return post.createdMs < query.timeMs;
    case 'min':
      return post[query.metric] >= query.count;
  }
}
