import { decodeAbiParameters, isHex } from 'viem';
import { RetryableError } from '../../infra/errors.js';
import { tryParseAddress } from '../../schemas/primitives/address.js';
import type { ChainState } from './ports.js';

const GET_OWNERS = '0xa0e67e2b';
const TIMEOUT_MS = 5_000;

interface JsonRpcResponse {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Decodes the result of getOwners(), or returns null for any other result. */
export function ownersFrom(result: unknown): readonly string[] | null {
  if (typeof result !== 'string' || !isHex(result) || result.length <= 2) return null;
  try {
    const [owners] = decodeAbiParameters([{ type: 'address[]' }], result);
    const found = owners.map((owner) => tryParseAddress(owner));
    return found.length === 0 || found.includes(null) ? null : (found as string[]);
  } catch {
    // Another contract may return arbitrary data for this selector.
    return null;
  }
}

/** The URL without its user and password, which `fetch` rejects, and the header that has them. */
function withoutCredentials(address: string): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const url = new URL(address);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: url.href, headers: credentials === ':' ? {} : { authorization } };
}

/** Reads chain state through a node's HTTP JSON-RPC. */
export function createChainState(options: { url: string; timeoutMs?: number }): ChainState {
  const { url, headers } = withoutCredentials(options.url);
  const batch = async (
    calls: readonly { method: string; params: readonly unknown[] }[],
  ): Promise<JsonRpcResponse[]> => {
    let responses: unknown;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
        signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
      });
      if (!response.ok) throw new RetryableError(`The node responded with ${response.status}`);
      responses = await response.json();
    } catch (error) {
      if (error instanceof RetryableError) throw error;
      throw new RetryableError('The node cannot be reached', { cause: error });
    }
    if (!Array.isArray(responses)) throw new RetryableError('The node did not respond to the batch');
    return calls.map((_call, id) => (responses as JsonRpcResponse[]).find((response) => response?.id === id) ?? {});
  };
  return {
    async codesOf(addresses) {
      const responses = await batch(
        addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
      );
      return responses.map(({ result }) => {
        if (typeof result !== 'string') throw new RetryableError('The node returned no result for eth_getCode');
        return result;
      });
    },
    async ownersOf(address) {
      const [response] = await batch([{ method: 'eth_call', params: [{ to: address, data: GET_OWNERS }, 'latest'] }]);
      return ownersFrom(response?.result);
    },
  };
}
