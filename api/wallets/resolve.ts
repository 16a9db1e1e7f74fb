import { tryParseAddress } from '../../schemas/primitives/address.js';
import { type WalletKind, walletsOf } from '../../schemas/primitives/wallet-addresses.js';
import type { Tables } from '../tables/port.js';
import type { ChainState, Profiles } from './ports.js';
import { seenWalletsSql } from './resolve.sql.js';

export type WalletType = 'deposit_wallet' | 'safe' | 'proxy';

/** Owner key of an address or name, and the wallets of that key. */
export interface Resolved {
  /** The wallet used for trading. */
  readonly safe: string;
  readonly eoa: string | null;
  readonly username: string | null;
  /** Type of `safe`. */
  readonly type: WalletType | null;
  /** Deployed wallets only. */
  readonly wallets: {
    readonly deposit_wallet: string | null;
    readonly safe: string | null;
    readonly proxy_wallet: string | null;
  };
  readonly wallet_details: readonly {
    readonly address: string;
    readonly wallet_type: WalletType | null;
    readonly deployed: boolean;
    readonly current: boolean;
  }[];
}

const walletTypeOf: Readonly<Record<WalletKind, WalletType>> = {
  deposit_beacon: 'deposit_wallet',
  deposit_uups: 'deposit_wallet',
  safe: 'safe',
  proxy: 'proxy',
};
/** Order in which the trading wallet is chosen among the deployed ones. Existing older deposit wallets were never replaced. */
const preference: readonly WalletKind[] = ['deposit_uups', 'deposit_beacon', 'safe', 'proxy'];

export interface ResolveDeps {
  readonly tables: Tables;
  /** null: no node configured; a wallet that occurs in the tables counts as deployed. */
  readonly chain: ChainState | null;
  /** null: names are not resolved. */
  readonly profiles: Profiles | null;
}

/** Code by address of a deployed wallet; without a node it is empty. */
type Deployed = ReadonlyMap<string, string>;

/** Whether the venue's factories create the wallet for the key. */
const isWalletOf = (key: string, wallet: string): boolean => Object.values<string>(walletsOf(key)).includes(wallet);

/** The key that the code of a deposit wallet ends with; null for another contract. */
function keyOfDepositWallet(address: string, code: string): string | null {
  const key = tryParseAddress(`0x${code.slice(-40)}`);
  return key !== null && isWalletOf(key, address) ? key : null;
}

/** All wallets of a key; null if no wallet is deployed and no name refers to one. `named`: the wallet of the requested name. */
function walletsOfOwner(eoa: string, deployed: Deployed, named: string | null): Omit<Resolved, 'username'> | null {
  const addresses = walletsOf(eoa);
  const existing = preference.filter((kind) => deployed.has(addresses[kind]));
  const byName = preference.find((kind) => addresses[kind] === named);
  const current = existing[0] ?? byName;
  if (current === undefined) return null;
  const first = (type: WalletType) => {
    const kind = existing.find((one) => walletTypeOf[one] === type);
    return kind === undefined ? null : addresses[kind];
  };
  const listed = existing.includes(current) ? existing : [current, ...existing];
  return {
    safe: addresses[current],
    eoa,
    type: walletTypeOf[current],
    wallets: { deposit_wallet: first('deposit_wallet'), safe: first('safe'), proxy_wallet: first('proxy') },
    wallet_details: listed.map((kind) => ({
      address: addresses[kind],
      wallet_type: walletTypeOf[kind],
      deployed: existing.includes(kind),
      current: kind === current,
    })),
  };
}

/** Resolves addresses and names; null if unknown. Throws RetryableError when node, profile API or tables are unreachable. */
export function createResolver(deps: ResolveDeps): (query: string) => Promise<Resolved | null> {
  const { tables, chain, profiles } = deps;

  const activeAmong = async (addresses: readonly string[]): Promise<Deployed> => {
    const rows = await tables.rows<{ wallet: string }>(seenWalletsSql(addresses));
    return new Map(rows.map((row) => [row.wallet, '']));
  };
  const deployed = async (addresses: readonly string[]): Promise<Deployed> => {
    if (chain === null) return activeAmong(addresses);
    const codes = await chain.codesOf(addresses);
    const pairs = addresses.map((address, index) => [address, codes[index] ?? ''] as const);
    return new Map(pairs.filter(([, code]) => code.length > 2));
  };

  const ofAddress = async (address: string, named: string | null): Promise<Omit<Resolved, 'username'> | null> => {
    const candidates = Object.values(walletsOf(address));
    const existing = await deployed([address, ...candidates]);
    const asOwner = walletsOfOwner(address, existing, named);
    if (asOwner !== null) return asOwner;
    const code = existing.get(address) ?? '';
    const key = keyOfDepositWallet(address, code);
    const owners = chain === null || key !== null || code === '' ? [] : ((await chain.ownersOf(address)) ?? []);
    const owner = key ?? (owners.length === 1 ? (owners[0] as string) : null);
    // Anyone can put an owner into a Safe of their own.
    if (owner !== null && isWalletOf(owner, address)) {
      const all = walletsOfOwner(owner, await deployed(Object.values(walletsOf(owner))), named);
      if (all !== null) return all;
    }
    const exists =
      existing.has(address) || named === address || (chain !== null && (await activeAmong([address])).has(address));
    if (!exists) return null;
    const isSafe = owners.length > 0;
    const isContract = chain === null ? null : existing.has(address);
    return {
      safe: address,
      // An externally owned account that trades without a wallet contract.
      eoa: owner ?? (isContract === false && named === null ? address : null),
      type: isSafe ? 'safe' : null,
      wallets: { deposit_wallet: null, safe: isSafe ? address : null, proxy_wallet: null },
      wallet_details: [
        { address, wallet_type: isSafe ? 'safe' : null, deployed: existing.has(address), current: true },
      ],
    };
  };

  return async (query) => {
    const address = tryParseAddress(query);
    const named = address === null ? ((await profiles?.walletOf(query)) ?? null) : null;
    const start = address ?? named;
    if (start === null) return null;
    const found = await ofAddress(start, named);
    if (found === null) return null;
    const username = (await profiles?.nameOf(found.safe)) ?? (named === null ? null : query);
    return { ...found, username };
  };
}
