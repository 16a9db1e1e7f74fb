import type { Config } from '../config/config.js';
import { readOrCreateSecret } from '../files/secret.js';
import type { ClickHouseConfig } from './client.js';

/** The file of the data directory with the password of the product's own user of the embedded server. */
const PASSWORD_FILE = 'clickhouse-password';

/**
 * How the product's processes reach their tables. The embedded server's password is random and stands in the data directory, which all of its
 * processes share, unless CLICKHOUSE_PASSWORD is set. Throws FatalError when the file cannot be read.
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
