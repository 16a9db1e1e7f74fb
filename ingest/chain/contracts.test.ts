import { encodeAbiParameters, keccak256, stringToBytes } from 'viem';
import { describe, expect, it } from 'vitest';
import { watchedContracts } from '../../schemas/coverage/sources.js';
import {
  addresses,
  contractAt,
  contracts,
  settlementExchange,
  settlementTargets,
  watchedAddresses,
  watchedTopics,
} from './contracts.js';
import { eventAbi } from './event-abi.js';
import { domainTypeString, exchangeDomainName, polygonChainId } from './order-abi.js';

describe('address book', () => {
  it('contains each address once, in lower case', () => {
    const all = contracts.map((contract) => contract.address);
    expect(new Set(all).size).toBe(all.length);
    for (const address of Object.values(addresses)) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
  });

  it('has the EIP-712 domain separator of each exchange', () => {
    const hash = (text: string) => keccak256(stringToBytes(text));
    for (const contract of contracts) {
      if (contract.role !== 'exchange') continue;
      const expected = keccak256(
        encodeAbiParameters(
          [{ type: 'bytes32' }, { type: 'bytes32' }, { type: 'bytes32' }, { type: 'uint256' }, { type: 'address' }],
          [
            hash(domainTypeString),
            hash(exchangeDomainName),
            hash(String(contract.generation)),
            BigInt(polygonChainId),
            contract.address,
          ],
        ),
      );
      expect(contract.domainSeparator, contract.name).toBe(expected);
    }
  });

  it('burn address is the head of keccak("NO_TOKEN_BURN_ADDRESS")', () => {
    expect(keccak256(stringToBytes('NO_TOKEN_BURN_ADDRESS')).slice(0, 42)).toBe(addresses.noTokenBurn);
  });

  it('maps a FeeModule to its exchange and other addresses to null', () => {
    expect(settlementExchange(addresses.feeModule)?.address).toBe(addresses.exchangeV1);
    expect(settlementExchange(addresses.feeModuleOldNegRisk)?.address).toBe(addresses.exchangeV1NegRisk);
    expect(settlementExchange(addresses.exchangeV3)?.generation).toBe(3);
    expect(settlementExchange(addresses.conditionalTokens)).toBeNull();
    expect(settlementExchange('0x0000000000000000000000000000000000000001')).toBeNull();
  });

  it('watches decoded contracts, without the collateral transfers of the whole chain', () => {
    expect(watchedAddresses).toContain(addresses.conditionalTokens);
    expect(watchedAddresses).not.toContain(addresses.usdcE);
    expect(watchedTopics).toContain(eventAbi.orderFilledV2.topic0);
    expect(watchedTopics).not.toContain(eventAbi.erc20Transfer.topic0);
    expect(settlementTargets).toHaveLength(10);
  });

  it('reports coverage for exactly the contracts whose logs are decoded', () => {
    const read = contracts.filter(({ address }) => watchedAddresses.includes(address));
    const expected = read.map((contract) => ({
      name: contract.name,
      address: contract.address,
      exchangeVersion: contract.role === 'exchange' ? contract.generation : null,
    }));
    expect(watchedContracts).toEqual(expected);
  });

  it('finds the collateral by its role', () => {
    expect(contractAt(addresses.pusd)?.role).toBe('pusd');
  });
});
