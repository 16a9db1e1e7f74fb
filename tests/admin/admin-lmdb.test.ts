import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { describeAdmin } from './admin-suite.js';

describeAdmin('LMDB', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-admin-'));
  const url = `lmdb:${join(dir, 'log')}`;
  const log = await openLog(url, { logger: silentLogger() });
  return {
    log,
    url,
    async close() {
      await log.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
});
