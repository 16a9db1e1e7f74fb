// Rules that turn the rows of one transaction hash into matches: makers and taker.

const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);

function makerLeg(row) {
  return { wallet: row.wallet, side: row.side, outcome: row.outcome, usdc: row.grossUsdc, shares: row.grossShares };
}

/** One group whose rows have a fee: its wallet is the taker, and every row has a synthetic maker. */
function takerOfFeeRows(rows) {
  const [first] = rows;
  return {
    market: first.market,
    taker: {
      wallet: first.wallet,
      side: first.side,
      outcome: first.outcome,
      usdc: sum(rows, 'grossUsdc'),
      shares: sum(rows, 'grossShares'),
      fee: sum(rows, 'fee'),
    },
    makers: rows.map((row) => ({
      wallet: null,
      side: 1 - row.side,
      outcome: row.outcome,
      usdc: row.grossUsdc,
      shares: row.grossShares,
    })),
    rule: 'fee_row_is_taker',
  };
}

function oneGroup(rows) {
  if (rows.some((row) => row.fee > 0) && rows.every((row) => row.wallet === rows[0].wallet))
    return takerOfFeeRows(rows);
  return { market: rows[0].market, taker: null, makers: rows.map(makerLeg), rule: 'rows_are_makers' };
}

/** Tolerance of conservation: rounding of prices printed with 16 digits, per maker. */
const slack = (makers) => 10 + 2 * makers.length;

function tryPair(takers, makers, stage) {
  if (takers.length !== 1 || makers.some((row) => row.wallet === takers[0].wallet)) return null;
  const [t] = takers;
  const complementary = t.outcome === makers[0].outcome;
  const makerShares = sum(makers, 'grossShares');
  const makerUsdc = sum(makers, 'grossUsdc');
  const expected = complementary ? makerUsdc : makerShares - makerUsdc;
  const close = Math.abs(t.grossUsdc - expected) <= slack(makers);
  const legs = makers.map(makerLeg);
  const match = (shares, fee, extra, rule) => ({
    market: t.market,
    taker: { wallet: t.wallet, side: t.side, outcome: t.outcome, usdc: t.grossUsdc, shares, fee },
    makers: [...legs, ...extra],
    rule,
  });
  const missing = makerShares - t.grossShares;
  if (stage === 'exact')
    return close && Math.abs(missing) <= slack(makers) ? match(t.grossShares, t.fee, [], 'pair') : null;
  if (stage === 'fee') {
    // The source's usdc is price x net size; with the fee added to the size, the cost is the amount that the makers received.
    const cost = (t.grossUsdc / t.grossShares) * makerShares;
    const explained = t.side === 0 && t.fee === 0 && missing > 0 && missing <= 0.02 * makerShares;
    if (!explained || Math.abs(cost - expected) > slack(makers) + makerShares * 1e-6) return null;
    const found = match(makerShares, missing, [], 'pair_share_fee');
    return { ...found, taker: { ...found.taker, usdc: expected }, usdcAdded: expected - t.grossUsdc };
  }
  const restShares = -missing;
  const restUsdc = t.grossUsdc - expected;
  if (restShares <= 0 || restUsdc <= 0 || restUsdc >= restShares) return null;
  if (Math.abs(restUsdc / restShares - t.grossUsdc / t.grossShares) > 0.05) return null;
  const rest = { wallet: null, side: 1 - t.side, outcome: t.outcome, usdc: restUsdc, shares: restShares };
  return match(t.grossShares, t.fee, [rest], 'pair_and_rest');
}

function pair(a, b) {
  const sameSide = a[0].side === b[0].side;
  const sameOutcome = a[0].outcome === b[0].outcome;
  if (a[0].market !== b[0].market || sameSide === sameOutcome) return null;
  for (const stage of ['exact', 'fee', 'rest']) {
    const found = tryPair(a, b, stage) ?? tryPair(b, a, stage);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Rows (trades only, in source order) of one transaction hash -> matches. The first belongs to the hash itself, further ones to
 * separate transactions.
 */
export function matchesOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.market}:${row.outcome}:${row.side}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const list = [...groups.values()];
  if (list.length === 2) {
    const found = pair(list[0], list[1]);
    if (found !== null) return [found];
  }
  return list.map((group, index) => (index === 0 ? oneGroup(group) : { ...oneGroup(group), rule: 'further_group' }));
}
