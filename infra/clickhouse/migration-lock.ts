import { setTimeout as wait } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { RetryableError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import type { ClickHouse } from './client.js';
import { isProcessAlive } from './process-alive.js';

export interface LockOwner {
  readonly host: string;
  readonly pid: number;
  readonly id: string;
}

const LEASE_MS = 15_000;
const RENEW_INTERVAL_MS = 4_000;
const POLL_INTERVAL_MS = 100;
const WAIT_TIMEOUT_MS = 120_000;
const PREFIX = 'schema_migrations_lock_';
const SERVER_MS = 'toUnixTimestamp64Milli(now64(3))';
const TABLE_ALREADY_EXISTS = '57';

interface CurrentLock {
  readonly generation: number;
  readonly owner: LockOwner;
  readonly expired: boolean;
}

/**
 * Runs `work` while this process owns the database's migration lock. The lock is a table, because CREATE TABLE is ClickHouse's only
 * atomic test-and-set; its comment names the owner and the end of the lease by the server's clock, since those of the hosts may differ. A process takes over the lock of an ended owner by
 * creating the table of the next generation, which again only one process can. In a cluster the table is created ON CLUSTER: Keeper's queue
 * orders the attempts, and each node executes them in that order. Throws RetryableError when the lock is not free within two minutes.
 */
export async function withMigrationLock<T>(
  options: { client: ClickHouse; logger: Logger; owner: LockOwner; onCluster?: string },
  work: () => Promise<T>,
): Promise<T> {
  const { client, logger, owner, onCluster = '' } = options;
  const comment = async () => {
    const [row] = await client.query<{ now_ms: string }>(`SELECT ${SERVER_MS} AS now_ms`);
    return literal(JSON.stringify({ ...owner, expiresMs: Number(row?.now_ms) + LEASE_MS }));
  };
  const table = (generation: number) => `${PREFIX}${generation}`;

  async function readLock(): Promise<CurrentLock | undefined> {
    const rows = await client.query<{ name: string; comment: string; now_ms: string }>(
      `SELECT name, comment, ${SERVER_MS} AS now_ms FROM system.tables WHERE database = {database:String} AND startsWith(name, {prefix:String})`,
      { database: client.database, prefix: PREFIX },
    );
    const locks = rows.map((row) => {
      const { expiresMs, ...by } = JSON.parse(row.comment) as LockOwner & { expiresMs: number };
      const ended = by.host === owner.host && !isProcessAlive(by.pid);
      const leftMs = expiresMs - Number(row.now_ms);
      // A lease that ends later than any process sets it was written before the clock was set back.
      const expired = ended || leftMs < 0 || leftMs > 2 * LEASE_MS;
      return { generation: Number(row.name.slice(PREFIX.length)), owner: by, expired };
    });
    return locks.sort((a, b) => b.generation - a.generation)[0];
  }
  async function tryLock(generation: number): Promise<boolean> {
    try {
      await client.command(
        `CREATE TABLE {name:Identifier}${onCluster} (unused UInt8) ENGINE = MergeTree ORDER BY unused COMMENT ${await comment()}`,
        { name: table(generation) },
      );
      return true;
    } catch (error) {
      if (error instanceof ClickHouseError && error.code === TABLE_ALREADY_EXISTS) return false;
      throw error;
    }
  }

  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  let generation = 0;
  while (generation === 0) {
    const current = await readLock();
    if (current === undefined || current.expired) {
      const next = (current?.generation ?? 0) + 1;
      if (current !== undefined)
        logger.warn({ owner: current.owner }, 'taking over the migration lock of a process that has ended');
      if (await tryLock(next)) generation = next;
    } else if (Date.now() > deadline) {
      throw new RetryableError(
        `Process ${current.owner.pid} on ${current.owner.host} owns the migration lock for longer than ${WAIT_TIMEOUT_MS / 1000} s.`,
      );
    } else await wait(POLL_INTERVAL_MS);
  }

  const renew = setInterval(() => {
    comment()
      .then((text) =>
        client.command(`ALTER TABLE {name:Identifier}${onCluster} MODIFY COMMENT ${text}`, { name: table(generation) }),
      )
      .catch((error) => logger.warn({ err: error }, 'cannot renew the migration lock'));
  }, RENEW_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(renew);
    // Older generations first: the newest one is the lock.
    for (let old = Math.max(1, generation - 3); old <= generation; old++) {
      await client.command(`DROP TABLE IF EXISTS {name:Identifier}${onCluster} SYNC`, { name: table(old) });
    }
  }
}

/** Quotes JSON that this file created: a COMMENT clause takes no bound parameter. */
function literal(json: string): string {
  return `'${json.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
