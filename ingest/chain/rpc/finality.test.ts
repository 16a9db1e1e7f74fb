import { afterEach, describe, expect, it } from 'vitest';
import { FatalError, RetryableError } from '../../../infra/errors.js';
import { closeAll, listen, never, node, sourceOf } from './rpc-source.fixture.js';

afterEach(closeAll);

describe('finality', () => {
  it('reads the finalized tag, and never falls back once it was known', async () => {
    const fake = await node({ length: 300 });
    fake.finalize(290);
    const { source } = sourceOf(fake);
    expect(await source.finalizedNumber()).toBe(290);
    fake.finalize(null);
    await expect(source.finalizedNumber()).rejects.toThrow(RetryableError);
    expect(await sourceOf(fake, {}, 7).source.historyRange(null, never)).toEqual({ fromBlock: 7, toBlock: 171 });
  });
  it('never falls back in a later source of the process', async () => {
    const fake = await node({ length: 300 });
    const network = { isVerified: false, hasFinalizedTag: false };
    const next = () => sourceOf(fake, {}, 7, undefined, network).source;
    fake.finalize(290);
    expect(await next().finalizedNumber()).toBe(290);
    fake.finalize(null);
    await expect(next().finalizedNumber()).rejects.toThrow(RetryableError);
  });
  it('uses a fixed depth on a node that rejects the tag', async () => {
    const fake = await node({
      length: 300,
      override: ({ params }) =>
        (params as readonly unknown[])[0] === 'finalized'
          ? { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } }
          : undefined,
    });
    expect(await sourceOf(fake, { fallbackFinalityDepth: 20 }).source.finalizedNumber()).toBe(279);
  });
  it('does not use a fixed depth for a busy node', async () => {
    const fake = await node({
      length: 300,
      override: ({ params }) => ((params as readonly unknown[])[0] === 'finalized' ? { status: 503 } : undefined),
    });
    await expect(sourceOf(fake).source.finalizedNumber()).rejects.toThrow(RetryableError);
  });
  it('rejects a node of another network', async () => {
    const fake = await node({ override: ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined) });
    const { source } = sourceOf(fake);
    await expect(source.historyRange(null, never)).rejects.toThrow(FatalError);
    await expect(listen(source).done).rejects.toThrow('chain id 1');
  });
  it('of another network is an error to be retried when the process has read the right one from it', async () => {
    let chainId = '0x89';
    const fake = await node({ override: ({ method }) => (method === 'eth_chainId' ? { result: chainId } : undefined) });
    const network = { isVerified: false, hasFinalizedTag: false };
    await sourceOf(fake, {}, undefined, undefined, network).source.historyRange(null, never);
    chainId = '0x1';
    const restarted = sourceOf(fake, {}, undefined, undefined, network).source;
    const failure = await restarted.historyRange(null, never).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RetryableError);
    expect(String(failure)).toMatch(/chain id 1 instead of 137, which it had before/);
    chainId = '0x89';
    await restarted.historyRange(null, never);
  });
});
