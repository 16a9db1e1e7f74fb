import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { displayedKeyPrefix, hashKey, isValidKeyFormat, newRawKey } from '../../schemas/api-keys.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { AccountCommand, Key } from '../../schemas/types.gen.js';
import type { Log } from '../log/port.js';

const ACCOUNT_ID = 'local';
const KEY_NAME = 'dev-key';

/** The file with the ready key (mode 600). */
export const devKeyFile = (dataDir: string) => join(dataDir, 'dev-key');

function readKey(file: string): string | null {
  if (!existsSync(file)) return null;
  const key = readFileSync(file, 'utf8').trim();
  return isValidKeyFormat(key) ? key : null;
}

/** Whether a key is a ready key: by its name or, as it can be renamed, by the file in the data directory. */
export function isDevKey(key: Key, dataDir: string): boolean {
  if (key.account_id !== ACCOUNT_ID) return false;
  const own = readKey(devKeyFile(dataDir));
  return key.name === KEY_NAME || (own !== null && key.key_hash === hashKey(own));
}

function writeKey(file: string, key: string): void {
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

/** Whether a key of accounts.state is active; undefined: not there. */
async function isActive(keyHash: string, log: Log, codec: Codec): Promise<boolean | undefined> {
  let active: boolean | undefined;
  for await (const batch of log.read({
    topic: topics.accountsState.name,
    partition: 0,
    from: 'earliest',
    follow: false,
  })) {
    for (const record of batch.records) {
      if (record.value === null) continue;
      // An unreadable record counts as an unknown key: the command is then sent again, and the accounts processor decides.
      const event = tryDecode(codec, record.value, () => undefined);
      if (event?.kind !== 'account_state' || !('oddstream.Key' in event.value.state)) continue;
      const key = event.value.state['oddstream.Key'];
      if (key.key_hash === keyHash) active = key.active;
    }
  }
  return active;
}

/**
 * The ready key for local use: belongs to the account `local` on the enterprise plan, is created at the first start and stored in `<data>/dev-key`.
 * Another one is created at the start after it was revoked. Only while every port is bound to loopback: when `loopback` is false an existing
 * key is revoked and its file removed, and null is returned. Repeating it changes nothing. Only commands are appended here; the accounts processor decides.
 */
export async function ensureDevKey(deps: {
  dataDir: string;
  loopback: boolean;
  log: Log;
  codec: Codec;
  nowMs: () => number;
}): Promise<string | null> {
  const { log, codec } = deps;
  const file = devKeyFile(deps.dataDir);
  const send = async (commands: readonly AccountCommand['command'][]) => {
    const nowMs = deps.nowMs();
    await log.append(
      topics.accountsCommands.name,
      commands.map((command) => ({
        key: `account:${ACCOUNT_ID}`,
        timestampMs: nowMs,
        value: codec.encode('account_command', { id: randomUUID(), issued_at_ms: nowMs, command, author: 'system' }),
      })),
    );
  };
  const existing = readKey(file);
  if (!deps.loopback) {
    if (existing !== null) {
      await send([{ 'oddstream.RevokeKey': { account_id: ACCOUNT_ID, key_hash: hashKey(existing) } }]);
      rmSync(file, { force: true });
    }
    return null;
  }
  const active = existing === null ? undefined : await isActive(hashKey(existing), log, codec);
  if (existing !== null && active === true) return existing;
  // A key that is not there yet: its command was not decided, or was lost with the log.
  const key = existing !== null && active === undefined ? existing : newRawKey();
  if (key !== existing) writeKey(file, key);
  await send([
    { 'oddstream.CreateAccount': { account_id: ACCOUNT_ID, plan: 'enterprise', label: 'local development' } },
    {
      'oddstream.CreateKey': {
        account_id: ACCOUNT_ID,
        key_hash: hashKey(key),
        key_prefix: displayedKeyPrefix(key),
        name: KEY_NAME,
      },
    },
  ]);
  return key;
}
