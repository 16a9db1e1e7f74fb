import { nullableCodec } from './cached-lookup.js';
import type { ConditionTokens, MarketMetadata, TokenMetadata } from './metadata.js';
import { type Resolution, resolutionOf } from './resolution.js';

const marketFieldSet: Readonly<Record<keyof MarketMetadata, true>> = {
  question: true,
  slug: true,
  image: true,
  icon: true,
  eventId: true,
  eventSlug: true,
  eventTitle: true,
  outcomes: true,
  tokenIds: true,
  negRisk: true,
  closed: true,
  endMs: true,
  tagSlugs: true,
};
const marketFields = Object.keys(marketFieldSet) as readonly (keyof MarketMetadata)[];
/** Replaces an icon that is equal to the image. */
const SAME_AS_IMAGE = 0;

/** JSON array of the field values: field names would take a quarter of the text. */
export const marketCodec = nullableCodec<MarketMetadata>({
  pack: (market) =>
    JSON.stringify(
      marketFields.map((field) => (field === 'icon' && market.icon === market.image ? SAME_AS_IMAGE : market[field])),
    ),
  unpack(text) {
    const values: readonly unknown[] = JSON.parse(text);
    const market = Object.fromEntries(marketFields.map((field, index) => [field, values[index]]));
    return { ...market, icon: market.icon === SAME_AS_IMAGE ? market.image : market.icon } as MarketMetadata;
  },
});

/** Lines; the outcome is last, since it may contain line breaks, and absent if it is null. */
export const tokenCodec = nullableCodec<TokenMetadata>({
  pack: (token) =>
    [
      token.conditionId,
      token.outcomeIndex,
      token.negRisk === null ? '' : Number(token.negRisk),
      token.otherTokenId ?? '',
      ...(token.outcome === null ? [] : [token.outcome]),
    ].join('\n'),
  unpack(text) {
    const [conditionId = '', outcomeIndex, negRisk, otherTokenId = '', ...outcome] = text.split('\n');
    return {
      conditionId,
      outcomeIndex: Number(outcomeIndex),
      outcome: outcome.length === 0 ? null : outcome.join('\n'),
      negRisk: negRisk === '' ? null : negRisk === '1',
      otherTokenId: otherTokenId === '' ? null : otherTokenId,
    };
  },
});

export const conditionTokensCodec = nullableCodec<ConditionTokens>({
  encoding: 'latin1',
  pack: ({ negRisk, tokenIds }) => [Number(negRisk), ...tokenIds].join(' '),
  unpack(text) {
    const [negRisk, ...tokenIds] = text.split(' ');
    return { negRisk: negRisk === '1', tokenIds };
  },
});

export const resolutionCodec = nullableCodec<Resolution>({
  encoding: 'latin1',
  pack: ({ resolvedAtS, payouts }) => [resolvedAtS, ...payouts].join(' '),
  unpack(text) {
    const [resolvedAt, ...payouts] = text.split(' ');
    return resolutionOf({ payouts, resolved_at: Number(resolvedAt) });
  },
});

export const flagCodec = nullableCodec<boolean>({
  encoding: 'latin1',
  pack: (value) => String(Number(value)),
  unpack: (text) => text === '1',
});
