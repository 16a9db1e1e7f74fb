import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeAbiParameters } from 'viem';
import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { createChainState, ownersFrom } from './chain-state.js';
import { createProfiles } from './profiles.js';

async function against<T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const owner = '0xAbcdefabcdefabcdefabcdefabcdefabcdefabcd' as const;
const owners = encodeAbiParameters([{ type: 'address[]' }], [[owner.toLowerCase() as `0x${string}`]]);

it('ownersFrom decodes owners and returns null for any other result', () => {
  expect(ownersFrom(owners)).toEqual([owner.toLowerCase()]);
  for (const other of [
    '0x',
    undefined,
    7,
    '0x01',
    `0x${'ff'.repeat(64)}`,
    encodeAbiParameters([{ type: 'address[]' }], [[]]),
  ])
    expect(ownersFrom(other)).toBeNull();
});

it('createChainState sends one batch and accepts its responses in any order', async () => {
  const node: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const calls = JSON.parse(body) as { id: number; method: string; params: [string | { to: string }] }[];
      const answers = calls.map(({ id, method, params }) => {
        const [first] = params;
        if (method === 'eth_getCode') return { id, result: first === '0x1' ? '0x6001' : '0x' };
        return typeof first === 'object' && first.to === '0xsafe' ? { id, result: owners } : { id, error: { code: 3 } };
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answers.reverse()));
    });
  };
  await against(node, async (url) => {
    const chain = createChainState({ url });
    expect(await chain.codesOf(['0x2', '0x1', '0x3'])).toEqual(['0x', '0x6001', '0x']);
    expect(await chain.ownersOf('0xsafe')).toEqual([owner.toLowerCase()]);
    expect(await chain.ownersOf('0xother')).toBeNull();
  });
});

it('createChainState sends the user and password of its URL as a header', async () => {
  const seen: unknown[] = [];
  const node: RequestListener = (request, response) => {
    seen.push([request.url, request.headers.authorization]);
    response.end('[{"id":0,"result":"0x"}]');
  };
  await against(node, async (url) => {
    for (const credentials of ['', 'user:p%40ss%C3%BC@', 'key@'])
      await createChainState({ url: `${url.replace('//', `//${credentials}`)}/v2?a=1` }).codesOf(['0x1']);
  });
  expect(seen).toEqual([
    ['/v2?a=1', undefined],
    // Of `printf 'user:p@ss\303\274' | base64`.
    ['/v2?a=1', 'Basic dXNlcjpwQHNzw7w='],
    ['/v2?a=1', 'Basic a2V5Og=='],
  ]);
});

it.each<[string, RequestListener]>([
  ['503', (_request, response) => response.writeHead(503).end()],
  ['no JSON', (_request, response) => response.end('<html>')],
  ['no batch', (_request, response) => response.end('{}')],
  ['no result', (_request, response) => response.end('[{"id":0}]')],
])('createChainState and createProfiles reject with RetryableError on %s', async (_name, listener) => {
  await against(listener, async (url) => {
    await expect(createChainState({ url }).codesOf(['0x1'])).rejects.toThrow(RetryableError);
  });
  await expect(createChainState({ url: 'http://127.0.0.1:1' }).ownersOf('0x1')).rejects.toThrow(RetryableError);
});

it('createProfiles finds names and wallets, and returns null for unknown ones', async () => {
  const wallet = `0x${'A1'.repeat(20)}`;
  const catalogue: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    if (url.pathname === '/public-profile') {
      if (url.searchParams.get('address') !== wallet) response.writeHead(404).end('{}');
      else response.end(JSON.stringify({ name: 'QuietFox', proxyWallet: wallet }));
      return;
    }
    response.end(
      JSON.stringify({
        profiles: [
          { name: 'quietfoxy', proxyWallet: '0x1' },
          { name: 'QuietFox', proxyWallet: wallet },
        ],
      }),
    );
  };
  await against(catalogue, async (url) => {
    const profiles = createProfiles({ url });
    expect(await profiles.nameOf(wallet)).toBe('QuietFox');
    expect(await profiles.nameOf('0xother')).toBeNull();
    expect(await profiles.walletOf('quietFOX')).toBe(wallet.toLowerCase());
    expect(await profiles.walletOf('quiet')).toBeNull();
  });
  await against(
    (_request, response) => response.writeHead(500).end(),
    async (url) => {
      await expect(createProfiles({ url }).nameOf(wallet)).rejects.toThrow(RetryableError);
    },
  );
});
