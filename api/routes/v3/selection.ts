import type { z } from 'zod';
import type { TokenChoice } from '../../fills/tokens.sql.js';
import { marketAliases } from '../../http/aliases.js';
import { parsedText } from '../../http/params.js';
import type { Readers } from '../../readers.js';
import { v3 } from './params.js';

const MAX_TAGS = 20;

const tags = parsedText<readonly string[]>(
  {
    parse(text) {
      const slugs = text.split(',').filter((slug) => slug !== '');
      const isValid = slugs.length > 0 && slugs.length <= MAX_TAGS;
      return isValid && slugs.every((slug) => v3.slug.safeParse(slug).success) ? slugs : undefined;
    },
    invalid: 'invalid tags',
  },
  { type: 'string', description: `Tag slugs, comma-separated, at most ${MAX_TAGS}: markets with any of them.` },
);

/** Parameters that select markets; they are ANDed. */
export const selectionFields = {
  tags: tags.optional(),
  tag_slug: v3.slugOf('tag_slug', 'Tag slug of the markets.'),
  market_slug: v3.slugOf('market_slug', 'Market slug.'),
  event_slug: v3.slugOf('event_slug', 'Event slug: all its markets.'),
  condition_id: v3.conditionId.optional(),
};
/** Aliases of `selectionFields`. */
export const selectionAliases = { category: 'tag_slug', ...marketAliases('market_slug') };
export type Selection = z.output<z.ZodObject<typeof selectionFields>>;

/** Finds the tokens of the selected markets; null without a selection. */
export async function selectTokens({ fills }: Readers, query: Selection): Promise<TokenChoice | null> {
  const { tags: anyTag, condition_id: conditionId, market_slug: marketSlug } = query;
  const { event_slug: eventSlug, tag_slug: tagSlug } = query;
  return fills.choose({ conditionId, marketSlug, eventSlug, tagSlug, anyTag });
}
