const WALLET = '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30';
const SLUG = 'btc-updown-5m-1773957000';
const TOKEN = '104249105480754024721560386594457498669812628394470644591429344337283404322761';

/** Examples of parameters by name: ids of the recorded input, so that the documented requests return data on it. */
const byName: Readonly<Record<string, string>> = {
  ...{ wallet: WALLET, wallets: WALLET, address: WALLET, addr: WALLET, query: WALLET },
  ...{ token_id: TOKEN, token: TOKEN },
  condition_id: '0x8e60951d8370dfd1c65d6a48c03bfc6010b95ad2504b04c9193582286bc35e59',
  ...{ slug: SLUG, market_slug: SLUG },
  q: 'bitcoin up',
};

/** Example of a parameter; undefined if the one that its route declares is to be used. */
export function recordedExample(path: string, name: string): string | undefined {
  if (path.startsWith('/v2/x/')) return undefined;
  // Ids of combos are shorter, and the recorded input has none.
  if (path.includes('/combos/') && name === 'condition_id') return undefined;
  if (path.startsWith('/v1/markets/{id}') && name === 'id') return SLUG;
  if (path.startsWith('/v3/tags/{slug}') && name === 'slug') return 'crypto';
  return byName[name];
}
