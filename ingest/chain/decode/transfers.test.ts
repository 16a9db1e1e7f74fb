import { describe, expect, it } from 'vitest';
import { addresses } from '../contracts.js';
import type { Hex } from '../source.js';
import { decodeBlock } from './block.js';
import { buildBlock, hash, type LogSpec, wallet } from './build.fixture.js';
import {
  alice,
  batch,
  bob,
  carol,
  decodeEvents,
  fillV1,
  fillV2,
  kinds,
  M,
  plain,
  plainAdapter,
  refund,
  single,
  values,
  wrapped,
  zero,
} from './scenario.fixture.js';

describe('transfers', () => {
  it('between users are events; a batch yields one per token', () => {
    const events = decodeEvents(
      buildBlock(single(alice, alice, bob, 5n, M), batch(carol, alice, bob, [7n, 8n], [M, 2n * M])),
    );
    expect(values(events)).toMatchObject([
      {
        id: `0x${'7a'.repeat(32)}-0`,
        operator: alice,
        from: alice,
        to: bob,
        token_id: '5',
        transfer_type: 'single',
        batch_index: 0,
      },
      {
        id: `0x${'7a'.repeat(32)}-1-0`,
        operator: carol,
        token_id: '7',
        amount: M,
        transfer_type: 'batch',
        batch_index: 0,
      },
      { id: `0x${'7a'.repeat(32)}-1-1`, token_id: '8', amount: 2n * M, batch_index: 1 },
    ]);
  });

  it('are explained by a fill of their transaction only, and only at or by its exchange', () => {
    const e = addresses.exchangeV2;
    const events = decodeEvents(
      buildBlock(
        single(e, alice, bob, plain[0]!, M),
        single(alice, alice, carol, plain[0]!, M),
        fillV2(e, alice, bob, 1, M, M / 2n),
        { ...single(e, alice, bob, plain[0]!, M), tx: hash('99') },
      ),
    );
    expect(kinds(events)).toEqual(['position_change', 'trade', 'position_change']);
    expect(values(events)).toMatchObject([{ log_index: 1 }, { log_index: 2 }, { log_index: 3, tx_hash: hash('99') }]);
  });

  it('of share fees between exchange, FeeModule and user belong to the fill', () => {
    const e = addresses.exchangeV1;
    const f = addresses.feeModule;
    const events = decodeEvents(
      buildBlock(
        single(e, e, f, 777n, 100n),
        fillV1(alice, bob, [0n, 777n], M, 2n * M, 100n),
        single(f, f, alice, 777n, 60n),
        refund(60n, 40n),
      ),
    );
    expect(kinds(events)).toEqual(['trade']);
  });

  it('without a split or merge keep the zero address', () => {
    const events = decodeEvents(
      buildBlock(single(alice, zero, alice, 5n, M), single(alice, alice, addresses.negRiskAdapter, 5n, M)),
    );
    expect(kinds(events)).toEqual(['position_change', 'position_change']);
    expect(events[0]?.value).toMatchObject({ from: zero });
  });

  it('stay explained when the log that explains them is malformed', () => {
    const e = addresses.exchangeV2;
    const block = buildBlock(single(e, alice, bob, plain[0]!, M), fillV2(e, alice, bob, 1, M, M / 2n));
    const broken = { ...block, logs: block.logs.with(1, { ...block.logs[1]!, data: '0x1234' }) };
    const { events, problems } = decodeBlock(broken);
    expect(events).toEqual([]);
    expect(problems).toMatchObject([{ log: broken.logs[1], reason: expect.stringContaining('orderFilledV2') }]);
  });
});

describe('deposits', () => {
  const unwrapped = (caller: Hex, to: Hex): LogSpec => ({ ...wrapped(caller, to, M), event: 'unwrapped' });

  it('are wraps by the Onramp and unwraps by the Offramp for addresses outside the venue', () => {
    const events = decodeEvents(
      buildBlock(
        wrapped(addresses.collateralOnramp, alice, 120n * M),
        unwrapped(addresses.collateralOfframp, bob),
        wrapped(addresses.collateralOfframp, alice, M),
        wrapped(plainAdapter, alice, M),
        wrapped(wallet('77'), alice, M),
        wrapped(addresses.collateralOnramp, addresses.autoRedeemer, M),
        wrapped(addresses.collateralOnramp, addresses.exchangeV2, M),
      ),
    );
    expect(values(events)).toMatchObject([
      { from: addresses.collateralOnramp, to: alice, asset: addresses.usdcE, amount: 120n * M, direction: 'deposit' },
      { from: addresses.collateralOfframp, to: bob, amount: M, direction: 'withdrawal' },
    ]);
    expect(events).toHaveLength(2);
  });
});
