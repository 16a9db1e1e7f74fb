import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLmdbLog } from '../../infra/log/lmdb/lmdb-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { describeCopyPnl } from './copy-pnl-suite.js';

describeCopyPnl('LMDB', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'oddstream-copy-pnl-'));
  const log = await createLmdbLog({ dir, logger: silentLogger() });
  return {
    log,
    async close() {
      await log.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
});
