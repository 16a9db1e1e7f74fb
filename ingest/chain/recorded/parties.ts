import { keccakOfHex } from '../../../schemas/primitives/hash.js';
import type { RecordedChain } from '../../shared/recorded/types.js';
import type { Hex } from '../source.js';
import { addressTopic, addressWord } from './log-sink.js';

/** Number of synthetic wallets that replace unnamed counterparties. */
const POOL_SIZE = 256;
const OPERATORS = 8;

function syntheticAddress(what: string): Hex {
  const hash = keccakOfHex(Buffer.from(`oddstream recording: ${what}`, 'utf8').toString('hex'));
  return `0x${hash.slice(26)}`;
}

/** A wallet with the forms of its address for logs and calldata. */
export interface Party {
  readonly address: Hex;
  readonly topic: Hex;
  readonly word: string;
  /** Word of the EOA that signs its orders; synthetic, because the recording has wallets only. */
  readonly signerWord: string;
  readonly signer: Hex;
}

function partyOf(address: Hex): Party {
  const signer = syntheticAddress(`signer of ${address}`);
  return { address, topic: addressTopic(address), word: addressWord(address), signer, signerWord: addressWord(signer) };
}

export interface Parties {
  /** Wallet by index in the recording's wallet table. */
  wallet(index: number): Party;
  /** Synthetic counterparty for a byte of the transaction hash. */
  synthetic(byte: number): Party;
  /** EOA that sends a settlement. */
  operator(byte: number): Hex;
}

export function createParties(chain: RecordedChain): Parties {
  const wallets = chain.wallets.map(partyOf);
  const pool = Array.from({ length: POOL_SIZE }, (_, i) => partyOf(syntheticAddress(`counterparty ${i}`)));
  const operators = Array.from({ length: OPERATORS }, (_, i) => syntheticAddress(`operator ${i}`));
  return {
    wallet(index) {
      const party = wallets[index];
      if (party === undefined) throw new RangeError(`No wallet ${index} in the recording`);
      return party;
    },
    synthetic: (byte) => pool[byte % POOL_SIZE]!,
    operator: (byte) => operators[byte % OPERATORS]!,
  };
}
