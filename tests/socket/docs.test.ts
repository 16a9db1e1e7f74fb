import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path, { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { plans } from '../../schemas/plans.js';
import { errorCodes, presetNames, presetOf } from '../../schemas/socket/vocabulary.js';
import { closeReasons } from '../../stream-gateway/protocol/close-codes.js';
import { isProtocolError, parseClientMessage } from '../../stream-gateway/protocol/messages.js';
import { startTestGateway, streamEvent } from '../../stream-gateway/testing.js';
import { startTcpProxy } from '../support/anvil.js';
import { pythonWith, whyNoPython } from '../support/python.js';

const guide = readFileSync(path.join(import.meta.dirname, '../../docs/SOCKET.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map((match) => match[1] ?? '');

describe('docs/SOCKET.md', () => {
  it('shows only messages that the gateway accepts', () => {
    const messages = blocks('json')
      .flatMap((block) => block.trim().split('\n'))
      .filter((line) => line.includes('"action"'));
    expect(messages.length).toBeGreaterThan(1);
    for (const message of messages) expect(isProtocolError(parseClientMessage(message)), message).toBe(false);
  });

  it('lists every preset with its kinds, every error code, every close code and the plan limits', () => {
    const row = (start: string) => guide.split('\n').find((line) => line.startsWith(start)) ?? '';
    for (const name of presetNames) {
      const line = guide.split('\n').find((one) => one.startsWith('| `') && one.split('|')[1]?.includes(`\`${name}\``));
      expect(line, name).toBeDefined();
      if (['fills', 'dome', 'markets'].includes(name)) continue;
      for (const kind of presetOf(name).kinds) expect(line).toContain(kind);
    }
    for (const code of errorCodes) expect(guide).toContain(`\`${code}\``);
    for (const { code } of Object.values(closeReasons)) expect(row(`| ${code} |`)).not.toBe('');
    const cells = (start: string) =>
      row(start)
        .split('|')
        .slice(2, 6)
        .map((cell) => cell.trim());
    const all = Object.values(plans);
    const shown = (value: number | null) => (value === null ? 'unlimited' : value.toLocaleString('en-US'));
    expect(cells('| connections')).toEqual(all.map((terms) => shown(terms.eventSockets)));
    expect(cells('| filter items')).toEqual(all.map((terms) => shown(terms.filterItemsPerSubscription)));
    expect(guide).toContain(`| \`snapshot_count\` | ${all.map((terms) => terms.snapshotCap).join(' | ')} |`);
  });

  const EPOCH = '00ff00ff00ff00ff';
  const docsUrl = /ws:\/\/127\.0\.0\.1:8081\/ws\?key=(YOUR_KEY)?/g;
  /** A client under test: the seqs of the events that it handled, and how to cut its connection. */
  interface Running {
    readonly seqs: number[];
    close(): void;
  }
  const startJavaScript = (code: string, port: number): Running => {
    const sockets: WebSocket[] = [];
    const seqs: number[] = [];
    let finished = false;
    const Socket = class extends WebSocket {
      constructor(url: string) {
        super(url.replace('127.0.0.1:8081', `127.0.0.1:${port}`));
        sockets.push(this);
      }
    };
    const quiet = { error: () => undefined };
    const scheduleSoon = (work: () => void) => finished || setTimeout(work, 5);
    new Function('WebSocket', 'KEY', 'handle', 'setTimeout', 'console', code)(
      Socket,
      'big',
      (event: { seq: number }) => seqs.push(event.seq),
      scheduleSoon,
      quiet,
    );
    return {
      seqs,
      close() {
        finished = true;
        for (const socket of sockets) socket.terminate();
      },
    };
  };
  const noPython = whyNoPython('the Python clients');
  const startPython = async (code: string, port: number): Promise<Running> => {
    const programs = await pythonWith('websockets', 'tests/socket/requirements.txt');
    const source = code
      .replace(docsUrl, `ws://127.0.0.1:${port}/ws?key=big`)
      .replace(', print))', ', lambda event: print(event["seq"], flush=True)))')
      .replace('wait = None, 0, 1', 'wait = None, 0, 0.01');
    const child = spawn(join(programs, 'python'), ['-c', source], { stdio: ['ignore', 'pipe', 'pipe'] });
    const seqs: number[] = [];
    let errors = '';
    createInterface(child.stdout).on('line', (line) => seqs.push(Number(line)));
    child.stderr.on('data', (text) => {
      errors += text;
    });
    child.on('exit', (code) => {
      if (code !== null && code !== 0) throw new Error(errors);
    });
    return { seqs, close: () => child.kill('SIGKILL') };
  };

  const intents = ['from now', 'snapshot, then live', 'resume'] as const;
  describe.each([
    ['JavaScript', 'js', startJavaScript],
    ['Python', 'python', startPython],
  ] as const)('%s clients', (language, fence, start) => {
    it.each(intents)('deliver what they promise: %s', async (intent) => {
      const missing = language === 'Python' ? await noPython : null;
      if (missing !== null) return expect(missing).toMatch(/Python/);
      /** While the epoch is unknown, the gateway answers a cursor with `unavailable`. */
      let starting = false;
      let refused = 0;
      const { server, publish, load } = await startTestGateway({
        epoch() {
          if (!starting) return EPOCH;
          refused++;
          return null;
        },
      });
      const proxy = await startTcpProxy(server.port);
      for (let seq = 1; seq <= 3; seq++) load(streamEvent(seq));
      const code = blocks(fence).at(intents.indexOf(intent) - 3) ?? '';
      const client = await start(code, proxy.port);
      try {
        const timeout = 20_000;
        if (intent === 'from now') {
          // Published until the subscription is active; what came before it is not delivered.
          let seq = 3;
          while (client.seqs.length < 3 && seq < 10_000) {
            await publish(streamEvent(++seq));
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          const first = client.seqs[0] as number;
          expect(first).toBeGreaterThan(3);
          await expect.poll(() => client.seqs.at(-1), { timeout }).toBe(seq);
          expect(client.seqs).toEqual(Array.from({ length: seq - first + 1 }, (_, at) => first + at));
          return;
        }
        await expect.poll(() => client.seqs, { timeout }).toEqual([1, 2, 3]);
        await publish(streamEvent(4));
        await expect.poll(() => client.seqs, { timeout }).toEqual([1, 2, 3, 4]);
        if (intent !== 'resume') return;
        proxy.interrupt();
        await publish(streamEvent(5));
        starting = true;
        proxy.resume();
        await expect.poll(() => refused, { timeout }).toBeGreaterThan(0);
        starting = false;
        await expect.poll(() => client.seqs, { timeout }).toEqual([1, 2, 3, 4, 5]);
        await publish(streamEvent(6));
        await expect.poll(() => client.seqs, { timeout }).toEqual([1, 2, 3, 4, 5, 6]);
      } finally {
        client.close();
        await proxy.close();
        await server.close();
      }
    });
  });
});
