import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist');
const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-wrong-start-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Runs a compiled script of the product to its end. */
function run(script: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    const child = spawn(process.execPath, [join(dist, script), ...args], {
      env: { PATH: process.env.PATH ?? '', ODDSTREAM_DATA: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}

it.each([
  [{ LOG_URL: 'foo://bar' }, 'LOG_URL', 'expected lmdb:<directory> or kafka://host:port'],
  [{ RECORDED_DIR: '/nope' }, 'RECORDED_DIR', '/nope has no recorded input (manifest.json)'],
  [{ ODDSTREAM_HOST: '203.0.113.7' }, 'ODDSTREAM_HOST', 'is not an address of this machine; use 0.0.0.0, :: or one of'],
  [{ ADMIN_PORT_API: '0' }, 'ADMIN_PORT_API', 'port 0 (api) is not from 1 to 65535'],
  [{ API_PORT: '8081' }, 'API_PORT', 'port 8081 is that of api and of stream-gateway; set API_PORT or GATEWAY_PORT'],
])(
  'a start with %j ends before any process starts, with a sentence that names the variable',
  async (env, variable, sentence) => {
    const { code, output } = await run('infra/up/main.js', [], env as Record<string, string>);
    expect([code, output]).toEqual([78, expect.stringContaining(variable)]);
    expect(output).toContain(sentence);
    expect(output).not.toMatch(/^ +at |starting/m);
  },
);

it('processors without a fixed admin port and a name end before they create a state directory', async () => {
  for (const [args, variable] of [
    [[], 'ADMIN_PORT_PROCESSORS'],
    [['stream'], 'ADMIN_PORT_STREAM'],
  ] as const) {
    const { code, output } = await run('processors/main.js', args, { [variable]: '0' });
    expect([code, output]).toEqual([78, expect.stringContaining(`${variable}: port 0 is another one at each start`)]);
  }
  expect(existsSync(join(dataDir, 'state'))).toBe(false);
});

it('a rebuild without a table lists the tables', async () => {
  const { code, output } = await run('processors/rebuild/main.js', [], {});
  expect([code, output]).toEqual([
    78,
    expect.stringMatching(/^No table was named\. Use: npm run rebuild -- .*\nTables: [\w, ]+$/),
  ]);
});
