import type { Address } from './address.js';

/** Polygon mainnet: the contracts of the venue, of its tokens and of its oracles, lower case. */
export const addresses = {
  zero: '0x0000000000000000000000000000000000000000',
  conditionalTokens: '0x4d97dcd97ec945f40cf65f87097ace5ea0476045',
  exchangeV1: '0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e',
  exchangeV1NegRisk: '0xc5d563a36ae78145c45a50134d48a1215220f80a',
  feeModule: '0xe3f18acc55091e2c48d883fc8c8413319d4ab7b0',
  feeModuleNegRisk: '0xb768891e3130f6df18214ac804d4db76c2c37730',
  feeModuleOld: '0x56c79347e95530c01a2fc76e732f9566da16e113',
  feeModuleOldNegRisk: '0x78769d50be1763ed1ca0d5e878d93f05aabff29e',
  exchangeV2: '0xe111180000d2663c0091e4f400237545b87b996b',
  exchangeV2NegRiskA: '0xe2222d279d744050d28e00520010520000310f59',
  exchangeV2NegRiskB: '0xe2222d002000ba0053cef3375333610f64600036',
  exchangeV3: '0xe3333700ca9d93003f00f0f71f8515005f6c00aa',
  negRiskAdapter: '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296',
  negRiskOperator: '0x71523d0f655b41e805cec45b17163f528b59b820',
  negRiskVault: '0x7f67327e88c258932d7d8f72950be0d46975e11d',
  /** Collateral of neg-risk positions. */
  wrappedCollateral: '0x3a3bd7bb9528e159577f7c2e685cc81a765002e2',
  /** Receives the NO tokens of a conversion. */
  noTokenBurn: '0xa5ef39c3d3e10d0b270233af41cac69796b12966',
  /** Collateral of plain positions, V1 and V2. */
  usdcE: '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
  pusd: '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb',
  collateralOnramp: '0x93070a847efef7f70739046a929d47a521f5b8ee',
  collateralOfframp: '0x2957922eb93258b93368531d39facca3b4dc5854',
  ctfCollateralAdapterFirst: '0xada100874d00e3331d00f2007a9c336a65009718',
  ctfCollateralAdapter: '0xada100db00ca00073811820692005400218fce1f',
  negRiskCtfCollateralAdapterFirst: '0xada200001000ef00d07553cee7006808f895c6f1',
  negRiskCtfCollateralAdapter: '0xada2005600dec949baf300f4c6120000bdb6eaab',
  autoRedeemer: '0xa1200000d0002264c9a1698e001292d00e1b00af',
  /** ERC-1155 of combos. */
  positionManager: '0x006f54f7f9a22e0000cc2ab60031000000ae9fef',
  comboRouter: '0x12121212006e4cd160d18e3f00711da5c3372600',
  binaryModule: '0x1000008dd9001b968442c1000017eae6e0da00ba',
  comboNegRiskModule: '0x200000900045e3b6259600682756002200028933',
  combinatorialModule: '0x30000034706c7d8e12009dab006be20000c031a8',
  umaAdapterV4: '0x65070be91477460d8a7aeeb94ef92fe056c2f2a7',
  umaAdapterV4NegRisk: '0x69c47de9d4d3dad79590d61b9e05918e03775f24',
  umaAdapterV3: '0x157ce2d672854c848c9b79c49a8cc6cc89176a49',
  umaAdapterNegRiskPrevious: '0x2f5e3684cb1f318ec51b00edba38d79ac2c0aa9d',
  umaAdapterV2: '0x6a9d222616c90fca5754cd1333cfd9b7fb6a4f74',
  managedOptimisticOracleV2: '0x2c0367a9db231ddebd88a94b4f6461a6e47c58b1',
  optimisticOracleV2: '0xee3afe347d5c74317041e2618c49534daf887c24',
  optimisticOracleOld: '0xcb1822859cef82cd2eb4e6276c7916e692995130',
  /** Resolves the crypto up/down markets; none of its events are read. */
  cryptoOracle: '0x58e1745bedda7312c4cddb72618923da1b90efde',
} as const satisfies Record<string, Address>;

const all: ReadonlySet<string> = new Set(Object.values(addresses));

/** Whether an address is one of the contracts above, which are never wallets. */
export function isVenueContract(address: string): boolean {
  return all.has(address);
}

/** Collaterals of outcome tokens. */
export const collaterals = [addresses.usdcE, addresses.wrappedCollateral] as const;

/** Collateral of a condition's outcome tokens: conditions of the neg-risk adapter use the wrapped collateral. */
export function collateralOfOracle(oracle: string): Address {
  return oracle === addresses.negRiskAdapter ? addresses.wrappedCollateral : addresses.usdcE;
}
