/** What the chain says of addresses, now. Both throw RetryableError when the node cannot be reached. */
export interface ChainState {
  /** Whether there is a contract at each address, in their order. */
  deployed(addresses: readonly string[]): Promise<readonly boolean[]>;
  /** Owners of a Safe, lower case; null for what is no Safe. */
  ownersOf(address: string): Promise<readonly string[] | null>;
}

/** Names people gave themselves. Throws RetryableError when they cannot be asked for. */
export interface Profiles {
  /** The name of a trading wallet, or null. */
  nameOf(wallet: string): Promise<string | null>;
  /** The trading wallet of a name in any letter case, or null. */
  walletOf(name: string): Promise<string | null>;
}
