/** Current chain state of addresses. Both methods throw RetryableError when the node is unreachable. */
export interface ChainState {
  /** Code of the contract at each address, in the order of the addresses; `0x` without one. */
  codesOf(addresses: readonly string[]): Promise<readonly string[]>;
  /** Owners of a Safe, lower case; null for an address that is not a Safe. */
  ownersOf(address: string): Promise<readonly string[] | null>;
}

/** Public profile names of wallets. Throws RetryableError when the profile API is unreachable. */
export interface Profiles {
  /** The name of a trading wallet, or null. */
  nameOf(wallet: string): Promise<string | null>;
  /** The trading wallet of a name in any letter case, or null. */
  walletOf(name: string): Promise<string | null>;
}
