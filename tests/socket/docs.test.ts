import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { plans } from '../../schemas/plans.js';
import { errorCodes, presetNames, presetOf } from '../../schemas/socket/vocabulary.js';
import { closeReasons } from '../../stream-gateway/protocol/close-codes.js';
import { isProtocolError, parseClientMessage } from '../../stream-gateway/protocol/messages.js';
import { startTestGateway, streamEvent } from '../../stream-gateway/testing.js';

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

  it('has a JavaScript client that resumes without loss or duplicates', async () => {
    const { server, publish } = await startTestGateway();
    const sockets: WebSocket[] = [];
    const Socket = class extends WebSocket {
      constructor(url: string) {
        super(url.replace('127.0.0.1:8081', `127.0.0.1:${server.port}`));
        sockets.push(this);
      }
    };
    const received: number[] = [];
    const code = blocks('js').at(-1) ?? '';
    let finished = false;
    const scheduleSoon = (work: () => void) => finished || setTimeout(work, 5);
    new Function('WebSocket', 'KEY', 'handle', 'setTimeout', code)(
      Socket,
      'big',
      (event: { seq: number }) => received.push(event.seq),
      scheduleSoon,
    );
    await expect.poll(() => sockets[0]?.readyState).toBe(WebSocket.OPEN);
    await publish(streamEvent(1), streamEvent(2));
    await expect.poll(() => received).toEqual([1, 2]);
    const closed = new Promise((resolve) => sockets[0]?.on('close', resolve));
    sockets[0]?.terminate();
    await publish(streamEvent(3));
    await closed;
    await expect.poll(() => sockets.length).toBe(2);
    await expect.poll(() => received).toEqual([1, 2, 3]);
    await publish(streamEvent(4));
    await expect.poll(() => received).toEqual([1, 2, 3, 4]);
    finished = true;
    for (const socket of sockets) socket.terminate();
    await server.close();
  });
});
