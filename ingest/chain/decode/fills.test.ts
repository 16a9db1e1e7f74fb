import { describe, expect, it } from 'vitest';
import { addresses } from '../contracts.js';
import { decodeBlock } from './block.js';
import { buildBlock, hash, wallet } from './build.fixture.js';
import { alice, bob, decodeEvents, fillV1, fillV2, M, plain, refund, values } from './scenario.fixture.js';

describe('fills', () => {
  it('decodes both sides of V2, the taker row and the builder', () => {
    const withBuilder = fillV2(addresses.exchangeV2, alice, bob, 1, 4n * M, 3n * M);
    const events = decodeEvents(
      buildBlock(
        { ...withBuilder, args: { ...withBuilder.args, builder: hash('bd') } },
        fillV2(addresses.exchangeV2, bob, addresses.exchangeV2, 0, 3n * M, 4n * M, 12_000n),
      ),
    );
    expect(values(events)).toMatchObject([
      {
        id: `0x${'7a'.repeat(32)}-0`,
        exchange_version: 2,
        neg_risk: false,
        side: 'SELL',
        usdc: 3n * M,
        shares: 4n * M,
        maker_asset_id: String(plain[0]),
        taker_asset_id: '0',
        is_taker_order: false,
        builder: hash('bd'),
        fee: 0n,
        timestamp_ms: 1_784_851_200_000,
      },
      {
        side: 'BUY',
        usdc: 3n * M,
        shares: 4n * M,
        maker_asset_id: '0',
        taker_asset_id: String(plain[0]),
        is_taker_order: true,
        builder: null,
        fee: 12_000n,
        fee_shares: 0n,
      },
    ]);
  });

  it('distinguishes V2 and V3 by the emitting address', () => {
    const events = decodeEvents(
      buildBlock(
        fillV2(addresses.exchangeV3, alice, bob, 0, M, 2n * M),
        fillV2(addresses.exchangeV2NegRiskB, alice, bob, 0, M, 2n * M),
      ),
    );
    expect(values(events)).toMatchObject([
      { exchange_version: 3, neg_risk: false },
      { exchange_version: 2, neg_risk: true },
    ]);
  });

  it('stores a V2 event of a V1 exchange as unknown and skips a fill of an unknown contract', () => {
    const block = buildBlock(
      fillV2(addresses.exchangeV1, alice, bob, 0, M, M),
      fillV2(wallet('ee'), alice, bob, 0, M, M),
    );
    const { events, problems } = decodeBlock(block);
    expect(events.map(({ kind, value }) => [kind, value.log_index])).toEqual([['unknown_log', 0]]);
    expect(problems).toEqual([]);
  });

  it('V1: a buyer pays the fee in shares, shown in USDC net of the refund', () => {
    const events = decodeEvents(
      buildBlock(fillV1(alice, bob, [0n, 777n], 7_434_000n, 17_700_000n, 1_770_000n), refund(770_000n, 1_000_000n)),
    );
    // 1,000,000 of share fee at 7.434/17.7 = 0.42.
    expect(values(events)).toMatchObject([
      { exchange_version: 1, side: 'BUY', token_id: '777', usdc: 7_434_000n, fee: 420_000n, fee_shares: 1_000_000n },
    ]);
  });

  it('V1: a seller pays in USDC', () => {
    const events = decodeEvents(
      buildBlock(fillV1(alice, bob, [777n, 0n], 10n * M, 4n * M, 50_000n), refund(50_000n, 0n)),
    );
    expect(values(events)).toMatchObject([{ side: 'SELL', usdc: 4n * M, shares: 10n * M, fee: 0n, fee_shares: 0n }]);
  });

  it('V1: assigns the refund of two fills of one order by the charged fee', () => {
    const events = decodeEvents(
      buildBlock(
        fillV1(alice, bob, [777n, 0n], 10n * M, 4n * M, 50_000n),
        fillV1(alice, bob, [777n, 0n], 20n * M, 8n * M, 100_000n),
        refund(80_000n, 20_000n),
        refund(40_000n, 10_000n),
      ),
    );
    expect(values(events)).toMatchObject([{ fee: 10_000n }, { fee: 20_000n }]);
  });

  it.each([
    ['without a fill', [refund(1n, 0n)]],
    ['of another exchange', [fillV1(alice, bob, [1n, 0n], M, M, 5n), refund(1n, 4n, addresses.feeModuleNegRisk)]],
    ['above the fee', [fillV1(alice, bob, [1n, 0n], M, M, 5n), refund(6n, 0n)]],
  ])('reports a refund %s', (_name, specs) => {
    const { problems } = decodeBlock(buildBlock(...specs));
    expect(problems.map((problem) => problem.reason)).toEqual(['fee refund without a fill it could belong to']);
  });

  it.each([
    ['collateral for collateral', [0n, 0n]],
    ['token for token', [5n, 6n]],
  ] as const)('reports a V1 fill of %s', (_name, assets) => {
    const { events, problems } = decodeBlock(buildBlock(fillV1(alice, bob, [...assets], M, M, 0n)));
    expect(events).toEqual([]);
    expect(problems).toHaveLength(1);
  });
});
