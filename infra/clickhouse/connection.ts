import type { Config } from '../config/config.js';
import { readOrCreateSecret } from '../files/secret.js';
import type { ClickHouseConfig } from './client.js';

/** The file in the data directory with the embedded server's password for the product's user. */
const PASSWORD_FILE = 'clickhouse-password';

/** The read-only user of the public views, on the embedded engine and in infra/deploy. */
const ANALYST_USER = 'analyst';

/** How the API runs statements of its clients: as the read-only user. Without ANALYST_PASSWORD only the embedded engine of this machine accepts it. */
export function analystConnection(config: Pick<Config, 'clickhouse'>) {
  const { url, analyst, analystDatabase } = config.clickhouse;
  return { url, user: ANALYST_USER, password: analyst.password ?? '', database: analystDatabase, limits: analyst };
}

/**
 * Connection settings of the product's processes. Unless CLICKHOUSE_PASSWORD is set, the embedded server's password is random and stored in the
 * data directory, which all processes share. Throws FatalError when the file cannot be read.
 */
export async function clickHouseConnection(
  config: Pick<Config, 'clickhouse' | 'dataDir'>,
): Promise<Pick<ClickHouseConfig, 'url' | 'user' | 'password' | 'database' | 'cluster'>> {
  const { url, user, password, database, cluster, embedded } = config.clickhouse;
  const isFromFile = embedded !== null && password === '';
  return {
    url,
    user,
    password: isFromFile ? await readOrCreateSecret(config.dataDir, PASSWORD_FILE) : password,
    database,
    cluster,
  };
}
