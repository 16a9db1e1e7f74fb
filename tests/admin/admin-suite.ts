import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { AccountCommand } from '../../schemas/types.gen.js';

const codec = createCodec();
const logger = silentLogger();
const metrics = createMetrics({ process: 'test', defaults: false });
const program = join(import.meta.dirname, '../../dist/infra/admin/main.js');

/** The admin command as a process of its own, beside a running accounts processor on a real log. `openLog`: a new, empty log and its LOG_URL. */
export function describeAdmin(
  engineName: string,
  openLog: () => Promise<{ log: Log; url: string; close(): Promise<void> }>,
): void {
  describe(`the admin command on ${engineName}`, () => {
    let opened: Awaited<ReturnType<typeof openLog>>;
    let send: (command: AccountCommand['command']) => Promise<void>;
    const controller = new AbortController();
    const rawKey = newRawKey();
    beforeAll(async () => {
      opened = await openLog();
      const { log } = opened;
      const { signal } = controller;
      await log.ensureTopics(allTopics);
      void createAccountsProcessor({ log, codec, logger, metrics }).run(signal);
      const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable: () => undefined });
      await accounts.ready();
      const commands = createAccountCommands({ log, codec });
      send = async (command) => {
        const outcome = await accounts.waitForOutcome(await commands.send(command), 20_000);
        expect(outcome?.code).toBe('ok');
      };
      await send({
        'oddstream.CreateAccount': { account_id: 'acme', plan: 'starter', label: 'Acme\u001b\u202e\u2028[2J Ltd' },
      });
      await send({ 'oddstream.CreateAccount': { account_id: 'idle', plan: 'free', label: '' } });
      const key_hash = hashKey(rawKey);
      const key = { account_id: 'acme', key_hash, key_prefix: displayedKeyPrefix(rawKey), name: 'desk' };
      await send({ 'oddstream.CreateKey': key });
    });
    afterAll(async () => {
      controller.abort();
      await opened.close();
    });

    const commandsInLog = async () => {
      const all: AccountCommand[] = [];
      const read = { topic: topics.accountsCommands.name, partition: 0, from: 'earliest', follow: false } as const;
      for await (const { records } of opened.log.read(read))
        for (const { value } of records) {
          const event = value === null ? null : codec.decode(value);
          if (event?.kind === 'account_command') all.push(event.value);
        }
      return all;
    };
    const admin = (...args: string[]) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        const env = { ...process.env, LOG_URL: opened.url, PUBLIC_URL: 'https://odds.example' };
        execFile(process.execPath, [program, ...args], { env }, (error, out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        );
      });
    const done = async (...args: string[]) => {
      const { code, out, err } = await admin(...args);
      expect([code, err]).toEqual([0, '']);
      return out;
    };

    it('lists, finds and shows accounts, without control characters of their names', async () => {
      expect(await done('list')).toMatch(/acme +starter +1 .*Acme\?\?\?\[2J Ltd[\s\S]*idle +free[\s\S]*2 accounts/);
      expect(await done('list', '--plan', 'free')).toMatch(/idle[\s\S]*1 account$/m);
      expect(await done('find', displayedKeyPrefix(rawKey))).toMatch(/acme[\s\S]*1 account$/m);
      expect(await done('find', 'nothing')).toContain('0 accounts');
      const shown = await done('show', 'acme');
      expect(shown).toContain(hashKey(rawKey).slice(0, 16));
      expect(shown).not.toContain(hashKey(rawKey));
      expect(shown).toMatch(/api_requests +10000000 +0 +0 +0 +0/);
    });

    it('changes plan, limits, capacity and keys by commands with the author, and waits for them', async () => {
      expect(await done('set-plan', 'acme', 'growth')).toBe('acme is on the plan growth\n');
      await done('set-limits', 'acme', 'standard_per_minute=5000', 'api_keys=7');
      await done('set-limits', 'acme', 'api_keys=plan', 'event_sockets=60');
      expect(await done('show', 'acme')).toContain('growth with standard_per_minute=5000 event_sockets=60');
      await done('set-limits', 'acme', '--reset');
      expect(await done('show', 'acme')).toMatch(/^plan {6}growth$/m);
      await done('grant-courtesy', 'acme', 'api_requests', '2500000', '--days', '30', '--note', 'outage, "Monday"');
      expect(await done('show', 'acme')).toMatch(/courtesy +api_requests +2500000 +2500000 +0 .*outage, "Monday"/);
      expect(await done('revoke-key', 'acme', hashKey(rawKey).slice(0, 16))).toContain('is revoked');
      expect(await done('show', 'acme')).toContain('revoked');
      const authors = new Set((await commandsInLog()).map(({ author }) => author));
      expect([...authors]).toEqual(['system', `operator:${userInfo().username}`]);
    });

    it('prints a link that signs in, whose token is not in the log', async () => {
      const link = (await done('sign-in-link', 'Desk@Fund.example')).trim();
      expect(link).toMatch(/^https:\/\/odds\.example\/dashboard\/link#[\w-]{43}$/);
      const [, token = ''] = link.split('#');
      const text = JSON.stringify(await commandsInLog());
      expect([text.includes(token), text.includes('desk@fund.example')]).toEqual([false, true]);
    });

    it('exports and verifies the ledger', async () => {
      const [head, entry, ...rest] = (await done('export-ledger')).trim().split('\n');
      expect(head).toBe('account_id,seq,at,meter,grant_id,kind,quantity,balance,author');
      expect(entry).toMatch(/^acme,1,\d{4}-.*Z,api_requests,[0-9a-f-]{36},granted,2500000,2500000,operator:/);
      expect(rest).toEqual([]);
      const json = JSON.parse(await done('export-ledger', 'acme', '--format', 'jsonl')) as object;
      expect(json).toMatchObject({ seq: 1, kind: 'granted', quantity: 2_500_000 });
      expect(await done('export-ledger', 'idle', '--format', 'jsonl')).toBe('');
      expect(await done('verify-ledger')).toBe('2 ledgers verified\n');
    });

    it('exits with 64 and the usage for a wrong command line, with 1 for what does not exist or is rejected', async () => {
      for (const args of [
        [],
        ['nonsense'],
        ['show'],
        ['set-plan', 'acme', 'gold'],
        ['set-limits', 'acme'],
        ['set-limits', 'acme', 'speed=1'],
        ['set-limits', 'acme', 'api_keys=-1'],
        ['grant-courtesy', 'acme', 'api_requests', '1e6', '--days', '1'],
        ['grant-courtesy', 'acme', 'api_requests', '5'],
        ['list', '--reset'],
        ['list', '--unknown'],
        ['sign-in-link', 'acme'],
        ['sign-in-link', '\u212aay@fund.example'],
      ]) {
        const { code, err } = await admin(...args);
        expect([args, code]).toEqual([args, 64]);
        expect(err).toContain('Usage: npm run admin');
      }
      const missing = await admin('show', 'nobody');
      expect([missing.code, missing.err]).toEqual([1, 'No account nobody\n']);
      expect((await admin('revoke-key', 'acme', 'ffff')).code).toBe(1);
      const rejected = await admin('set-limits', 'acme', 'api_keys=999999999');
      expect([rejected.code, rejected.err]).toEqual([1, expect.stringContaining('Rejected')]);
      expect((await admin('--help')).out).toContain('verify-ledger');
    });
  });
}
