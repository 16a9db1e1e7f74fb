import { describe, expect, it } from 'vitest';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ConditionRow } from './import.sql.js';
import { importedMarket } from './markets.js';

const condition = `0x${'c1'.repeat(32)}`;
const plain = tokenPair(addresses.usdcE, condition);
const wrapped = tokenPair(addresses.wrappedCollateral, condition);
const row: ConditionRow = {
  ...{
    condition,
    slug: 's',
    event: 'e',
    labels: [],
    neg_risk: null,
    oracle: '',
    question: '',
    resolved: 0,
    payouts: [],
  },
};

describe('market of an imported condition', () => {
  it('has the labels of its traded tokens, and the opposite of a single known label', () => {
    expect(importedMarket({ ...row, labels: [[plain[1], 'Down']] })).toMatchObject({
      ...{ tokens: plain, outcomes: ['Up', 'Down'], neg_risk: false, winner: null, resolved: null },
    });
    expect(importedMarket({ ...row, labels: [[plain[0], 'Rivers']] })?.outcomes).toEqual(['Rivers', 'Outcome 2']);
    expect(importedMarket({ ...row, labels: [[plain[0], '']] })?.outcomes).toEqual(['Outcome 1', 'Outcome 2']);
  });

  it('is neg-risk by its oracle, or by a token of wrapped collateral', () => {
    expect(importedMarket({ ...row, labels: [[wrapped[0], 'Yes']] })).toMatchObject({
      neg_risk: true,
      tokens: wrapped,
    });
    expect(importedMarket({ ...row, oracle: addresses.negRiskAdapter })).toMatchObject({ neg_risk: true });
    expect(importedMarket({ ...row, oracle: addresses.cryptoOracle })).toMatchObject({ neg_risk: false });
  });

  it('has a winner if one outcome was paid', () => {
    const resolved = { ...row, resolved: 9, oracle: addresses.cryptoOracle };
    expect(importedMarket({ ...resolved, payouts: ['0', '1'] })).toMatchObject({ winner: 1, resolved: 9 });
    expect(importedMarket({ ...resolved, payouts: ['1', '1'] })).toMatchObject({ winner: null });
  });

  it('is as its other rows say only where it has neither an oracle nor a traded token', () => {
    expect(importedMarket({ ...row, neg_risk: true })).toMatchObject({ neg_risk: true, tokens: wrapped });
    expect(importedMarket({ ...row, neg_risk: false })).toMatchObject({ neg_risk: false, tokens: plain });
    const others = { neg_risk: true, labels: [[plain[1], 'No']] } as const;
    expect(importedMarket({ ...row, ...others })).toMatchObject({ neg_risk: false });
    expect(importedMarket({ ...row, ...others, oracle: addresses.negRiskAdapter })).toMatchObject({ neg_risk: true });
  });

  it('is none where nothing says whether it is neg-risk', () => {
    expect(importedMarket(row)).toBeNull();
    expect(importedMarket({ ...row, labels: [['1', 'Yes']] })).toBeNull();
  });

  it('is none for a combo, whose condition has 31 bytes', () => {
    expect(importedMarket({ ...row, condition: `0x${'c1'.repeat(31)}`, neg_risk: false })).toBeNull();
  });
});
