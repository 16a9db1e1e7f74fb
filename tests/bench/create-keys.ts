import { randomUUID } from 'node:crypto';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Product } from '../support/product.js';

/** Creates `count` accounts of the enterprise plan with one key each, by commands in the log like those of the API. Returns the raw keys. */
export async function createKeys(product: Product, count: number): Promise<string[]> {
  const codec = createCodec();
  const log = await openLog(`lmdb:${product.dataDir}/log`, { logger: silentLogger(), maintenance: false });
  const keys = Array.from({ length: count }, () => newRawKey());
  const commands = keys.flatMap((key, n) => {
    const account_id = `bench-${n}`;
    return [
      { 'oddstream.CreateAccount': { account_id, plan: 'enterprise' as const, label: 'bench' } },
      {
        'oddstream.CreateKey': {
          account_id,
          key_hash: hashKey(key),
          key_prefix: displayedKeyPrefix(key),
          name: 'bench',
        },
      },
    ].map((command) => ({ account_id, command }));
  });
  const nowMs = Date.now();
  await log.append(
    topics.accountsCommands.name,
    commands.map(({ account_id, command }) => ({
      key: `account:${account_id}`,
      timestampMs: nowMs,
      value: codec.encode('account_command', { id: randomUUID(), issued_at_ms: nowMs, command, author: 'system' }),
    })),
  );
  await log.close();
  return keys;
}
