import type { z } from 'zod';
import { badParameter } from '../../errors/failure.js';
import type { FillReader } from '../../fills/reader.js';
import { marketAliases } from '../../http/aliases.js';
import { slugParam } from '../../http/params.js';
import { v3 } from './params.js';

const MAX_TAGS = 20;
const slug = (name: string, description: string) => slugParam({ description, invalid: `invalid ${name}` }).optional();

/** Parameters that choose markets; all that are given must hold. */
export const selectionFields = {
  tags: slug('tags', `Tag slugs, comma-separated, at most ${MAX_TAGS}: markets with any of them.`),
  tag_slug: slug('tag_slug', 'Tag slug of the markets.'),
  market_slug: slug('market_slug', 'Market slug.'),
  event_slug: slug('event_slug', 'Event slug: all its markets.'),
  condition_id: v3.conditionId.optional(),
};
/** Other names of theirs. */
export const selectionAliases = { category: 'tag_slug', ...marketAliases('market_slug') };
export type Selection = z.output<z.ZodObject<typeof selectionFields>>;

/** Tokens of the markets a query chooses; null where it chooses none. Throws ApiError for too many. */
export function createSelector(deps: {
  fills: Pick<FillReader, 'tokens'>;
}): (query: Selection) => Promise<readonly string[] | null> {
  const { tokens } = deps.fills;
  return async (query) => {
    const anyOf = query.tags?.split(',').filter((tag) => tag !== '');
    if (anyOf !== undefined && (anyOf.length === 0 || anyOf.length > MAX_TAGS)) throw badParameter('invalid tags');
    const { condition_id: conditionId, market_slug: marketSlug, event_slug: eventSlug, tag_slug: tagSlug } = query;
    const [named, tagged] = await Promise.all([
      tokens({ conditionId, marketSlug, eventSlug, tagSlug }),
      anyOf === undefined ? null : Promise.all(anyOf.map((one) => tokens({ tagSlug: one }))),
    ]);
    const lists = [named, tagged === null ? null : tagged.flatMap((list) => list ?? [])];
    const [first, ...rest] = lists.filter((list) => list !== null).map((list) => new Set(list));
    return first === undefined ? null : [...first].filter((token) => rest.every((list) => list.has(token)));
  };
}
