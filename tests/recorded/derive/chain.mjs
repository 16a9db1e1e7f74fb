// Chain activity: rows of every source -> transactions with matches, merges and redemptions, and the outcomes derived from them.
import path from 'node:path';
import { keccakHex } from './ids.mjs';
import { matchesOf } from './matches.mjs';
import { packColumns } from './pack.mjs';
import { baseUnits, productBaseUnits, quotientBaseUnits, readCsv } from './read.mjs';

export const SOURCES = ['six_wallets', 'galindrast', 'wallet_d0d6', 'venue_slice'];
const ACTIONS = { match: 0, merge: 1, redeem: 2 };
const SETTLE_DELAY_S = 16;
const LAST_TRADE_WITHIN_S = 60;

function walletTable() {
  const list = [];
  const index = new Map();
  return {
    list,
    of(address) {
      const key = address.toLowerCase();
      let found = index.get(key);
      if (found === undefined) {
        found = list.length;
        index.set(key, found);
        list.push(key);
      }
      return found;
    },
  };
}

function activityRows(source, catalog, marketIndex, wallets, dropped) {
  const rows = [];
  for (const n of [1, 3, 5, 6, 8, 9]) {
    const file = path.join(source, `polybotanalysis-wallet-activity/wallet_${n}.csv.gz`);
    for (const row of readCsv(file)) {
      if (row.market === '') {
        dropped.push({ reason: 'no market', tx: row.tx_hash });
        continue;
      }
      const market = marketIndex.get(catalog.titles.get(row.market));
      const timeS = Number(row.timestamp);
      const shares = Number(baseUnits(row.size));
      const usdc = row.side === '' ? shares : Number(productBaseUnits(row.price, row.size));
      const type = row.side === '' ? (timeS >= catalog.markets[market].endS ? 'redeem' : 'merge') : 'match';
      rows.push({
        source: 0,
        order: Number(row.id),
        hash: row.tx_hash,
        timeS,
        type,
        wallet: wallets.of(row.wallet_addr),
        market,
        side: row.side === 'SELL' ? 1 : 0,
        outcome: row.outcome === 'Down' ? 1 : 0,
        grossUsdc: usdc,
        grossShares: shares,
        fee: 0,
      });
    }
  }
  mergesBeforeRedemption(rows);
  return rows;
}

/** A redemption burns all shares of its wallet in the market: of several rows without a side and with a payout at or after the end, only the last is one. */
function mergesBeforeRedemption(rows) {
  const last = new Map();
  for (const row of rows) {
    if (row.type !== 'redeem' || row.grossUsdc === 0) continue;
    const key = `${row.wallet} ${row.market}`;
    const seen = last.get(key);
    if (seen === undefined) {
      last.set(key, row);
      continue;
    }
    const isLater = row.timeS > seen.timeS || (row.timeS === seen.timeS && row.order < seen.order);
    (isLater ? seen : row).type = 'merge';
    if (isLater) last.set(key, row);
  }
}

/** Gross amounts and fee of a data-api trade: `size` of a fee-bearing buy is net of a share fee, `usdcSize` of such a sell net of a USDC fee. */
function grossOf(row) {
  const shares = baseUnits(row.size);
  const usdc = row.usdcSize === undefined ? productBaseUnits(row.price, row.size) : baseUnits(row.usdcSize);
  const gross = row.side === 'BUY' ? quotientBaseUnits(usdc, row.price) : productBaseUnits(row.price, row.size);
  const net = row.side === 'BUY' ? shares : usdc;
  const fee = gross - net;
  if (fee <= 3n || fee * 100_000n <= gross) return { grossShares: Number(shares), grossUsdc: Number(usdc), fee: 0 };
  return row.side === 'BUY'
    ? { grossShares: Number(gross), grossUsdc: Number(usdc), fee: Number(fee) }
    : { grossShares: Number(shares), grossUsdc: Number(gross), fee: Number(fee) };
}

function apiRows(list, sourceIndex, marketIndex, wallets) {
  return list.map((row, order) => {
    const type = row.type === 'REDEEM' ? 'redeem' : row.type === 'MERGE' ? 'merge' : 'match';
    const amounts =
      type === 'match'
        ? grossOf(row)
        : { grossShares: Number(baseUnits(row.size)), grossUsdc: Number(baseUnits(row.usdcSize)), fee: 0 };
    return {
      source: sourceIndex,
      order,
      hash: row.transactionHash,
      timeS: row.timestamp,
      type,
      wallet: wallets.of(row.proxyWallet),
      market: marketIndex.get(row.slug),
      side: row.side === 'SELL' ? 1 : 0,
      outcome: row.outcomeIndex === 1 ? 1 : 0,
      ...amounts,
    };
  });
}

const placeOf = ({ type, grossUsdc }) => (type !== 'redeem' ? 0 : grossUsdc > 0 ? 1 : 2);

/** Rows -> transactions in chain order. */
function transactionsOf(rows, rules, added) {
  const byHash = new Map();
  for (const row of rows) {
    const list = byHash.get(row.hash);
    if (list === undefined) byHash.set(row.hash, [row]);
    else list.push(row);
  }
  const transactions = [];
  for (const [hash, list] of byHash) {
    list.sort((a, b) => a.order - b.order);
    const [first] = list;
    if (list.some((row) => row.timeS !== first.timeS || row.source !== first.source))
      throw new Error(`one time and source per transaction: ${hash}`);
    const base = { timeS: first.timeS, source: first.source, order: first.order };
    // A redemption burns all shares of its outcomes, so the merges of its transaction precede it, and redemptions without a payout are last.
    const actions = list
      .filter((row) => row.type !== 'match')
      .sort((a, b) => placeOf(a) - placeOf(b))
      .map((row) => ({ kind: row.type, market: row.market, wallet: row.wallet, amount: row.grossShares }));
    const matches = matchesOf(list.filter((row) => row.type === 'match'));
    for (const match of matches) {
      rules[match.rule] = (rules[match.rule] ?? 0) + 1;
      if (match.usdcAdded !== undefined) added[match.taker.wallet] = (added[match.taker.wallet] ?? 0) + match.usdcAdded;
    }
    const own = matches.length === 0 ? [] : [{ kind: 'match', ...matches[0] }];
    transactions.push({ ...base, part: 0, hash, actions: [...own, ...actions] });
    matches.slice(1).forEach((match, i) => {
      const derived = keccakHex(Buffer.concat([Buffer.from(hash.slice(2), 'hex'), Buffer.from([i + 1])]));
      transactions.push({ ...base, part: i + 1, hash: derived, actions: [{ kind: 'match', ...match }] });
    });
  }
  return transactions.sort((a, b) => a.timeS - b.timeS || a.source - b.source || a.order - b.order || a.part - b.part);
}

/** Outcome of a traded window that no source has: the side that last traded higher. Resolution time by rule. */
function inferOutcomes(markets, rows) {
  const lastTrades = new Map();
  const firstRedeem = new Map();
  for (const row of rows) {
    const market = markets[row.market];
    if (row.type === 'redeem')
      firstRedeem.set(row.market, Math.min(firstRedeem.get(row.market) ?? Infinity, row.timeS));
    if (row.type !== 'match' || (market.endS !== null && row.timeS >= market.endS) || row.grossShares === 0) continue;
    const price = row.grossUsdc / row.grossShares;
    const up = row.outcome === 0 ? price : 1 - price;
    const seen = lastTrades.get(row.market);
    if (seen === undefined || row.timeS > seen.timeS) lastTrades.set(row.market, { timeS: row.timeS, ups: [up] });
    else if (row.timeS === seen.timeS) seen.ups.push(up);
  }
  markets.forEach((market, index) => {
    if (market.outcomeFrom === 'recorded') return;
    const last = lastTrades.get(index);
    if (last !== undefined) {
      const up = last.ups.reduce((a, b) => a + b, 0) / last.ups.length;
      market.lastPrice = Math.round(up * 1000) / 1000;
      const late = market.endS !== null && (last.timeS >= market.endS - LAST_TRADE_WITHIN_S || firstRedeem.has(index));
      if (market.outcome === null && late) {
        market.outcome = up >= 0.5 ? 0 : 1;
        market.outcomeFrom = 'inferred';
      }
    }
    if (market.outcome !== null && market.endS !== null)
      market.resolvedS = Math.max(
        market.endS,
        Math.min(market.endS + SETTLE_DELAY_S, firstRedeem.get(index) ?? Infinity),
      );
  });
}

function pack(transactions) {
  const c = Object.fromEntries(
    [
      'time',
      'source',
      'actions',
      'kind',
      'market',
      'makers',
      'taker_wallet',
      'taker_bits',
      'taker_usdc',
      'taker_shares',
      'taker_fee',
      'leg_wallet',
      'leg_bits',
      'leg_usdc',
      'leg_shares',
      'user_wallet',
      'user_amount',
    ].map((name) => [name, { values: [] }]),
  );
  c.time.delta = true;
  c.market.delta = true;
  const hashes = [];
  for (const tx of transactions) {
    c.time.values.push(tx.timeS);
    c.source.values.push(tx.source);
    c.actions.values.push(tx.actions.length);
    hashes.push(Buffer.from(tx.hash.slice(2), 'hex'));
    for (const action of tx.actions) {
      c.kind.values.push(ACTIONS[action.kind]);
      c.market.values.push(action.market);
      if (action.kind !== 'match') {
        c.user_wallet.values.push(action.wallet);
        c.user_amount.values.push(action.amount);
        continue;
      }
      const { taker, makers } = action;
      c.makers.values.push(makers.length);
      c.taker_wallet.values.push(taker === null ? 0 : taker.wallet + 1);
      if (taker !== null) {
        c.taker_bits.values.push(taker.side * 2 + taker.outcome);
        c.taker_usdc.values.push(taker.usdc);
        c.taker_shares.values.push(taker.shares);
        c.taker_fee.values.push(taker.fee);
      }
      for (const leg of makers) {
        c.leg_wallet.values.push(leg.wallet === null ? 0 : leg.wallet + 1);
        c.leg_bits.values.push(leg.side * 2 + leg.outcome);
        c.leg_usdc.values.push(leg.usdc);
        c.leg_shares.values.push(leg.shares);
      }
    }
  }
  return {
    columns: packColumns(c),
    hashes: Buffer.concat(hashes),
    counts: { transactions: transactions.length, actions: c.kind.values.length, maker_legs: c.leg_usdc.values.length },
  };
}

export function deriveChain(source, catalog) {
  const marketIndex = new Map(catalog.markets.map((market, index) => [market.slug, index]));
  const wallets = walletTable();
  const dropped = [];
  const rules = {};
  const added = {};
  const rows = [
    ...activityRows(source, catalog, marketIndex, wallets, dropped),
    ...apiRows(catalog.apiRows.galindrast, 1, marketIndex, wallets),
    ...apiRows(catalog.apiRows.d0d6, 2, marketIndex, wallets),
    ...apiRows(
      catalog.venueRows.map((row) => ({ type: 'TRADE', ...row })),
      3,
      marketIndex,
      wallets,
    ),
  ];
  inferOutcomes(catalog.markets, rows);
  const packed = pack(transactionsOf(rows, rules, added));
  const perSource = Object.fromEntries(SOURCES.map((name, i) => [name, rows.filter((row) => row.source === i).length]));
  return {
    ...packed,
    wallets: wallets.list,
    counts: { ...packed.counts, rows: perSource, rows_left_out: dropped.length, rules, usdc_added_by_wallet: added },
  };
}
