import { type Address, parseAddress } from './address.js';
import { type Hex, keccakOfHex } from './hash.js';

/** Kinds of wallets that the venue creates for a user's key. `deposit_uups` is the earlier form of `deposit_beacon`. */
export type WalletKind = 'deposit_beacon' | 'deposit_uups' | 'safe' | 'proxy';

const PROXY_FACTORY = 'ab45c5a4b0c941a2f231c04c3f49182e1a254052';
const SAFE_FACTORY = 'aacfeea03eb1561c4e67d661e40682bd20e3541b';
const DEPOSIT_FACTORY = '00000000000fb5c9adea0298d729a0cb3823cc07';
const DEPOSIT_BEACON = '7a18edfe055488a3128f01f563e5b479d92ffc3a';
const DEPOSIT_IMPLEMENTATION = '58ca52ebe0dadfdf531cde7062e76746de4db1eb';

const PROXY_INIT_CODE_HASH = 'd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b';
const SAFE_INIT_CODE_HASH = '2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf';

/** Bytes of the immutable arguments of a deposit wallet. */
const ARGS_BYTES = 64n;

const word = (hex: string): string => hex.padStart(64, '0');
const hashOf = (hex: string): string => keccakOfHex(hex).slice(2);

/** CREATE2: the last 20 bytes of keccak256(0xff ++ factory ++ salt ++ initCodeHash). */
function create2(factory: string, salt: string, initCodeHash: string): Address {
  return `0x${hashOf(`ff${factory}${salt}${initCodeHash}`).slice(24)}` as Hex;
}

/** Ten bytes of init code that return a runtime of the length of `prefix` plus the arguments. */
const header = (prefix: bigint): string => (prefix + (ARGS_BYTES << 56n)).toString(16).padStart(20, '0');

const UUPS_CODE_SEGMENTS = [
  '6009',
  '5155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076',
  'cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3',
].join('');
const BEACON_CODE_SEGMENTS = [
  '60195155f3363d3d373d3d363d602036600436635c60da',
  '1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c',
  'b3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3',
].join('');

/**
 * Addresses of the wallets that the venue's factories create for a key on Polygon, deployed or not. The salt of the proxy is the packed address,
 * that of the Safe the ABI-encoded address. The salt of a deposit wallet is its arguments (factory, key), with which its code also ends: Solady's
 * ERC-1967 proxy, earlier with the implementation, now with a beacon. Throws RangeError when `owner` is no address.
 */
export function walletsOf(owner: string): Readonly<Record<WalletKind, Address>> {
  const key = parseAddress(owner).slice(2);
  const args = `${word(DEPOSIT_FACTORY)}${word(key)}`;
  const depositSalt = hashOf(args);
  const uups = `${header(0x61003d3d8160233d3973n)}${DEPOSIT_IMPLEMENTATION}${UUPS_CODE_SEGMENTS}${args}`;
  const beacon = `${header(0x6100523d8160233d3973n)}${DEPOSIT_BEACON}${BEACON_CODE_SEGMENTS}${args}`;
  return {
    deposit_beacon: create2(DEPOSIT_FACTORY, depositSalt, hashOf(beacon)),
    deposit_uups: create2(DEPOSIT_FACTORY, depositSalt, hashOf(uups)),
    safe: create2(SAFE_FACTORY, hashOf(word(key)), SAFE_INIT_CODE_HASH),
    proxy: create2(PROXY_FACTORY, hashOf(key), PROXY_INIT_CODE_HASH),
  };
}
