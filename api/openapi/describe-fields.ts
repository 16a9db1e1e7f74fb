import { marketFields } from './fields/markets.js';
import { serviceFields } from './fields/service.js';
import { tradingFields } from './fields/trading.js';

type Json = Readonly<Record<string, unknown>>;

const byName: Readonly<Record<string, string>> = { ...serviceFields, ...marketFields, ...tradingFields };

/** Fields whose name means something else at some paths, by path and place (`[]` entries of a list, `{}` values of a map). */
const exceptions: readonly (readonly [path: RegExp, place: RegExp, description: string])[] = [
  [/^\/v1\/(status|coverage)/, /\.source$/, 'Name of the source.'],
  [/^\/v1\/status/, /\.sources$/, 'State of each source.'],
  [/^\/v1\/status/, /alarms\[\]\.address$/, 'Address of the contract.'],
  [/^\/v1\/status/, /alarms\[\]\.first_block$/, 'Block of the first occurrence.'],
  [/^\/v1\/status/, /alarms\[\]\.last_block$/, 'Block of the newest occurrence.'],
  [/^\/v1\/status/, /\.market_count$/, 'Markets of the catalogue; null if unknown.'],
  [/^\/v1\/coverage/, /\.kind$/, 'Kind of the source.'],
  [/^\/v1\/account\/ledger/, /\.kind$/, 'What changed the balance.'],
  [/^\/v1\/status/, /\.wallet_count$/, 'Wallets with a position; null if unknown.'],
  [/^\/v1\/coverage/, /\.from$/, 'First day, YYYY-MM-DD (UTC).'],
  [/^\/v1\/coverage/, /\.to$/, 'Last day, YYYY-MM-DD (UTC).'],
  [/^\/v1\/crypto\/ticks/, /\.(from|to)$/, 'Bound of the time span, Unix milliseconds.'],
  [/^\/v1\/crypto\/ticks/, /ticks\[\]\.data$/, 'The tick as the event socket sends it.'],
  [/^\/v1\/crypto\/ticks/, /data\.timestamp$/, 'Time of the tick, Unix seconds.'],
  [/^\/v1\/crypto\/ticks/, /\.type$/, 'Kind of the event.'],
  [
    /^\/v1\/crypto\/(markets|series)|^\/v1\/events?\//,
    /\.(events|markets|series)\[\]\.id$|^\.series\.id$/,
    'Id in the catalogue: a number, as text.',
  ],
  [/^\/v1\/crypto\/active/, /\.id$/, 'Id of the event in the catalogue: a number, as text.'],
  [/^\/v1\/(crypto\/markets|events\/search)/, /^\.events$/, 'Events with their markets.'],
  [/^\/v1\/crypto\/active/, /^\.markets$/, 'Current windows, one per coin.'],
  [/^\/v1\/account\/(packages|receipts)/, /amount_usd$/, 'Price, USD.'],
  [/^\/v1\/account\/(packages|receipts)/, /\.count$/, 'Number of packages.'],
  [/^\/v1\/account\/(packages|receipts)/, /\.status$/, 'State of the purchase.'],
  [/^\/v1\/account\/packages/, /packages\[\]\.id$/, 'Id of the package.'],
  [/^\/v1\/account\/keys/, /\.id$/, 'Id of the key: 16 hex characters.'],
  [/^\/v1\/(account\/)?keys/, /\.name$/, 'Name of the key.'],
  [/^\/v1\/auth/, /\.token$/, 'Token of the link in the mail.'],
  [/^\/v1\/(wallets|markets)/, /\.name$/, 'Always empty: profiles of the venue are not read.'],
  [/^\/v1\/sql/, /meta\[\]\.name$/, 'Name of the column.'],
  [/^\/v1\/sql/, /meta\[\]\.type$/, 'ClickHouse type of the column.'],
  [/^\/v1\/sql/, /\.max$/, 'Largest value of each column.'],
  [/^\/v1\/trader/, /\.series$/, 'Points of the curve, oldest first.'],
  [/^\/v1\/trader/, /\.period$/, 'Time span of the curve.'],
  [/^\/v2\/trader/, /normalized\.positions$/, 'Number of positions.'],
  [/^\/v2\/copy-pnl/, /\.sources$/, 'What the score was computed from.'],
  [/^\/v2\/copy-pnl\/wallets/, /\.wallets$/, 'Addresses of the pool.'],
  [/^\/v2\/copy-pnl/, /\.ts$/, 'When the scores were read, Unix seconds.'],
  [/^\/v2\/copy-pnl\/leaderboard/, /\.order$/, 'Requested direction of the order.'],
  [/^\/v2\/x\//, /media\[\]\.type$/, 'Kind of the picture or video.'],
  [/^\/v2\/onchain\/tags/, /tags\[\]\.(events|markets)$/, 'Number in the catalogue.'],
  [/candles/, /candles\[\]\.trades$/, 'Matches of the bucket.'],
  [/^\/clobv2\/volume/, /\.buckets$/, 'Hours with trades, newest first.'],
  [/^\/clobv2\/volume/, /buckets\[\]\.trades$/, 'Matches of the hour.'],
  [/^\/v3\/wallets\/batch/, /\.wallets$/, 'Addresses that are requested, or one entry per wallet.'],
  [/^\/v3\/wallets/, /(maker_rebates|rewards)\.(status|amount|raw)$/, 'Not known: see maker_rebates and rewards.'],
  [/^\/v3\/wallets/, /fees_paid\.amount$/, 'USD.'],
  [/polyusd-flows/, /\.amount$/, 'USD.'],
  [/polyusd-flows/, /\.asset$/, 'Address of the collateral token.'],
  [/positions$/, /data\[\]\.amount$/, 'Shares, base units (6 decimals), as text; null if unknown.'],
  [/^\/v3\/wallets\/\{address\}\/pnl/, /\.events$/, 'Number of events.'],
  [/^\/v3\/conditions/, /\.id$/, 'Condition id.'],
  [/^\/v3\/builders/, /\.volume$/, 'USDC of all fills of orders with the code, base units.'],
  [/^\/v3\/combos\/markets/, /\.markets$/, 'Combos.'],
  [/(splits|merges|nrc|redemptions|activity)$/, /\.timestamp$/, 'Time of the block.'],
  [/^\/clobv2\/neg-risk\/events/, /\.events$/, 'Neg-risk events.'],
  [/^\/clobv2\/neg-risk\/events/, /\.id$/, 'Id of the neg-risk event.'],
  [/^\/v3\/(trades|wallets|markets|builders)/, /trades\[\]\.timestamp$/, 'Time of the block, Unix seconds, as text.'],
];

/** Words about a field that its schema does not describe; undefined for an unknown name. */
function descriptionOf(path: string, place: string, name: string): string | undefined {
  const exception = exceptions.find(([paths, places]) => paths.test(path) && places.test(place));
  return exception?.[2] ?? byName[name];
}

/** A JSON schema in which every property that has no description gets one by its name. `path`: the route that it belongs to. */
export function describeFields(schema: Json, path: string, place = ''): Json {
  const result: Record<string, unknown> = { ...schema };
  if (isObject(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, Json>).map(([name, inner]) => {
        const described = describeFields(inner, path, `${place}.${name}`);
        const words = described.description ?? descriptionOf(path, `${place}.${name}`, name);
        return [name, words === undefined ? described : { ...described, description: words }];
      }),
    );
  }
  if (isObject(schema.items)) result.items = describeFields(schema.items, path, `${place}[]`);
  if (isObject(schema.additionalProperties))
    result.additionalProperties = describeFields(schema.additionalProperties, path, `${place}{}`);
  for (const kind of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(schema[kind]))
      result[kind] = schema[kind].map((branch: Json) => describeFields(branch, path, place));
  return result;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
