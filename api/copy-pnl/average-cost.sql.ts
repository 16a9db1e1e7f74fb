// Weighted average cost in SQL: the accounting of positions (processors/positions), from an empty state at the start of a window.

/** Factor between costs and profits (18 decimals) and amounts (6 decimals). */
const SCALE = 'toInt256(1000000000000)';

/**
 * State of one token: shares bought, shares received without cost, quantity that the cost refers to (fee shares included), cost and realized
 * profit (18 decimals), cost and quantity at the last realization, number of SELL fills beyond the shares.
 */
const HOLDING =
  'Tuple(size Int256, received Int256, quantity Int256, cost Int256, realized Int256, entry_cost Int256, entry_quantity Int256, over_sells UInt32)';

/** Kinds of events. Of a redemption of all shares the payout depends on the state. */
export const eventKinds = {
  acquire: 0,
  sell: 1,
  settle: 2,
  redeemAll: 3,
  giveAway: 4,
  receive: 5,
  convert: 6,
} as const;

/**
 * An event, in SQL: amount (below 0: all shares), fee in shares, and three numbers. acquire: cost is a / b. sell, settle: a / b per share.
 * redeemAll: a / b per share, at most c in total. Base units.
 */
export const TOKEN_EVENT = 'Tuple(kind UInt8, amount Int64, fee UInt64, a UInt64, b UInt64, c UInt64)';
/** The same for a group of tokens: tokens that leave or change, and tokens created by a conversion, as indexes in the group. */
export const GROUP_EVENT =
  'Tuple(kind UInt8, amount Int64, fee UInt64, a UInt64, b UInt64, c UInt64, tokens Array(UInt16), created Array(UInt16))';

const { acquire, sell, redeemAll, giveAway, receive, convert } = eventKinds;

/** Cost of `shares` of a holding at its average, rounded towards zero. */
const costOf = (cost: string, quantity: string, shares: string) =>
  `if(${shares} = 0, toInt256(0), intDiv(${cost} * ${shares}, greatest(${quantity}, 1)))`;

/** A share of `total` split evenly over `parts`; the first ones get the remainder. */
const shareOf = (total: string, parts: string, index: string) =>
  `intDiv(${total}, greatest(toInt256(${parts}), 1)) + if(${index} <= abs(${total} - intDiv(${total}, greatest(toInt256(${parts}), 1)) * ${parts}), toInt256(sign(${total})), toInt256(0))`;

/** Binds values to names within an expression: evaluated once, and the text stays short. */
const bind = (names: Readonly<Record<string, string>>, body: string): string =>
  `arrayMap((${Object.keys(names).join(', ')}) -> ${body}, ${Object.values(names)
    .map((value) => `[${value}]`)
    .join(', ')})[1]`;

const holding = (fields: readonly [string, string, string, string, string, string, string, string]) =>
  `CAST((${fields.join(', ')}), '${HOLDING}')`;

/**
 * The holding `h` after an event other than a conversion. Given away are first received shares, all others leave from the bought ones first; an
 * amount below 0 is all shares.
 */
const afterEvent = bind(
  {
    wanted: `multiIf(e.kind IN (${acquire}, ${receive}), toInt256(0), e.amount < 0, h.size + h.received, toInt256(e.amount))`,
  },
  bind(
    {
      wanted: 'wanted',
      tracked: `least(if(e.kind = ${giveAway}, wanted - least(wanted, h.received), wanted), h.size)`,
    },
    bind(
      {
        wanted: 'wanted',
        tracked: 'tracked',
        cost: costOf('h.cost', 'h.quantity', 'tracked'),
        proceeds: `if(e.kind = ${redeemAll},
          intDiv(least(intDiv(wanted * toInt256(e.a), toInt256(greatest(e.b, 1))), toInt256(e.c)) * ${SCALE} * tracked, greatest(wanted, 1)),
          intDiv(tracked * ${SCALE} * toInt256(e.a), toInt256(greatest(e.b, 1))))`,
        realizes: `tracked > 0 AND e.kind != ${giveAway}`,
        empties: 'tracked > 0 AND tracked = h.size',
        acquires: `e.kind = ${acquire}`,
      },
      holding([
        'h.size - tracked + if(acquires, e.amount - toInt128(e.fee), 0)',
        `h.received + if(e.kind = ${receive}, e.amount, -least(wanted - tracked, h.received))`,
        'if(empties, 0, h.quantity - tracked) + if(acquires, e.amount, 0)',
        `if(empties, 0, h.cost - cost) + if(acquires, intDiv(${SCALE} * toInt256(e.a), toInt256(greatest(e.b, 1))), 0)`,
        'h.realized + if(realizes, proceeds - cost, 0)',
        'if(realizes, h.cost, h.entry_cost)',
        'if(realizes, h.quantity, h.entry_quantity)',
        `h.over_sells + toUInt32(e.kind = ${sell} AND wanted > tracked)`,
      ]),
    ),
  ),
);

/**
 * The state after a conversion: `sets` of the NO given have a known cost, which moves to the YES created, less the collateral released
 * (processors/positions/conversion.ts).
 */
const afterConversion = bind(
  { sets: 'arrayFold((least_, i) -> least(least_, state[i].size), e.tokens, toInt256(e.amount))' },
  bind(
    {
      sets: 'sets',
      made: 'if(e.amount = 0, toInt256(0), intDiv(sets * toInt256(e.amount - toInt128(e.fee)), toInt256(greatest(e.amount, 1))))',
    },
    bind(
      {
        sets: 'sets',
        made: 'made',
        released: `made * ${SCALE} * toInt256(greatest(toInt64(length(e.tokens)) - 1, 0))`,
        paid: `arrayFold((total, i) -> total + ${costOf('state[i].cost', 'state[i].quantity', 'sets')}, e.tokens, toInt256(0))`,
      },
      `arrayMap((h, i) -> multiIf(
        has(e.tokens, i), ${bind(
          {
            cost: costOf('h.cost', 'h.quantity', 'sets'),
            empties: 'sets > 0 AND sets = h.size',
            rest: 'least(e.amount - sets, h.size - sets)',
          },
          bind(
            {
              cost: 'cost',
              rest: 'rest',
              size: 'h.size - sets',
              quantity: 'if(empties, toInt256(0), h.quantity - sets)',
              costLeft: 'if(empties, toInt256(0), h.cost - cost)',
              profit: `if(length(e.created) > 0, toInt256(0), ${shareOf('released', 'length(e.tokens)', 'indexOf(e.tokens, i)')} - cost)`,
            },
            holding([
              'size - rest',
              'h.received - least(e.amount - sets - rest, h.received)',
              'if(rest > 0 AND rest = size, toInt256(0), quantity - rest)',
              `if(rest > 0 AND rest = size, toInt256(0), costLeft - ${costOf('costLeft', 'quantity', 'rest')})`,
              'h.realized + profit',
              'if(sets > 0, h.cost, h.entry_cost)',
              'if(sets > 0, h.quantity, h.entry_quantity)',
              'h.over_sells',
            ]),
          ),
        )},
        has(e.created, i), ${holding([
          'h.size + made',
          'h.received + e.amount - toInt128(e.fee) - made',
          'h.quantity + made',
          `h.cost + ${shareOf('(paid - released)', 'length(e.created)', 'indexOf(e.created, i)')}`,
          'h.realized',
          'h.entry_cost',
          'h.entry_quantity',
          'h.over_sells',
        ])},
        h), state, arrayEnumerate(state))`,
    ),
  ),
);

const EMPTY = `CAST((0, 0, 0, 0, 0, 0, 0, 0), '${HOLDING}')`;

/** Final holding of one token. `events`: Array(TOKEN_EVENT) in chain order, none a conversion. */
export const tokenHoldingSql = (events: string): string => `arrayFold((h, e) -> ${afterEvent}, ${events}, ${EMPTY})`;

/** Final holdings of a group of tokens. `events`: Array(GROUP_EVENT) in chain order; `count`: number of tokens. */
export const groupHoldingsSql = (events: string, count: string): string =>
  `arrayFold((state, e) -> if(e.kind = ${convert}, ${afterConversion},
    arrayMap((h, i) -> if(has(e.tokens, i), ${afterEvent}, h), state, arrayEnumerate(state))),
    ${events}, arrayWithConstant(${count}, ${EMPTY}))`;
