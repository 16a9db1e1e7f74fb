import { describe, expect, it } from 'vitest';
import { classifyRpcError, RpcError } from './rpc-error.js';

const rpc = (code: number, message: string, data?: unknown) => new RpcError(message, { code, data });
const http = (status: number, message = `HTTP ${status}`, retryAfterMs?: number) =>
  new RpcError(message, { status, retryAfterMs });

describe('classifyRpcError', () => {
  const range = { from: 0x100, to: 0x1ff };
  it.each([
    [
      'Infura',
      rpc(-32005, 'query returned more than 10000 results. Try with this block range [0x100, 0x1FF].'),
      range,
      null,
    ],
    [
      'Infura data',
      rpc(-32005, 'query returned more than 10000 results', { from: '0x100', to: '0x1ff', limit: 10000 }),
      range,
      null,
    ],
    [
      'Alchemy size',
      rpc(
        -32602,
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x100, 0x1ff]',
      ),
      range,
      2000,
    ],
    [
      'Alchemy free',
      rpc(
        -32600,
        'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x100, 0x1ff]. Upgrade to PAYG for expanded block range.',
      ),
      range,
      10,
    ],
    ['QuickNode', rpc(-32614, 'eth_getLogs is limited to a 10,000 range'), null, 10_000],
    ['QuickNode trial', rpc(-32615, 'eth_getLogs is limited to a 5 range'), null, 5],
    ['publicnode', rpc(-32701, 'exceed maximum block range: 1000'), null, 1000],
    ['1rpc', rpc(-32000, 'eth_getLogs is limited to 0 - 50 blocks range'), null, 50],
    ['dRPC', rpc(35, 'ranges over 10000 blocks are not supported on freetier'), null, 10_000],
    ['geth', rpc(-32000, 'block range is too wide'), null, null],
    ['geth cap', rpc(-32005, 'query exceeds max results 20000, retry with the range 100-200'), null, null],
    ['timeout', rpc(-32000, 'query timeout exceeded'), null, null],
    ['413', http(413), null, null],
    ['a timeout of the client', new RpcError('No answer', { timedOut: true }), null, null],
  ])('%s: request fewer blocks', (_name, error, suggested, maxBlocks) => {
    expect(classifyRpcError(error)).toEqual({ kind: 'too_large', suggested, maxBlocks });
  });
  it.each([
    ['429', http(429, 'HTTP 429 Too Many Requests', 3000), 3000],
    ['Infura rate', rpc(-32005, 'project ID request rate exceeded'), null],
    ['daily', rpc(-32005, 'daily request count exceeded, request rate limited'), null],
    ['code in the body', rpc(429, 'Your app has exceeded its compute units per second capacity.'), null],
  ])('%s: wait', (_name, error, retryAfterMs) => {
    expect(classifyRpcError(error)).toEqual({ kind: 'rate_limited', retryAfterMs });
  });
  it.each([
    ['502', http(502)],
    ['internal', rpc(-32603, 'internal error')],
    ['a node that lags', rpc(-32000, 'header not found')],
    ['a busy node', rpc(-32000, 'Server busy, please try again')],
    ['an overloaded node', rpc(-32050, 'The backend is overloaded')],
    [
      'a timeout of a provider (dRPC)',
      rpc(30, 'Request timeout on the free tier, please upgrade your tier to the paid one'),
    ],
    ['a range that the node does not have yet', rpc(-32602, 'block range extends beyond current head block')],
    ['a range beyond the head', rpc(-32602, 'toBlock is beyond the head')],
    ['a deadline', rpc(-32000, 'context deadline exceeded')],
    ['a timeout', rpc(-32000, 'request timed out')],
    ['a temporary error with a code of a provider', rpc(19, 'Temporary internal error. Please retry')],
    ['a temporary error with a code of JSON-RPC', rpc(-32600, 'Temporary internal error. Please retry')],
    ['no connection', new RpcError('The node is unreachable: ECONNREFUSED')],
  ])('%s: try again', (_name, error) => {
    expect(classifyRpcError(error)).toEqual({ kind: 'transient' });
  });
  it.each([
    ['unknown method', rpc(-32601, 'the method eth_foo does not exist')],
    ['tag', rpc(-32000, 'finalized block not found')],
    ['key', http(401)],
    ['no permission', http(403)],
    ['params', rpc(-32602, 'invalid argument 0: hex string without 0x prefix')],
    ['key in the body', rpc(-32600, 'Must be authenticated!')],
    ['unknown block', rpc(-32000, 'unknown block')],
  ])('%s: rejected', (_name, error) => {
    expect(classifyRpcError(error)).toEqual({ kind: 'rejected' });
  });
});
