import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLmdbLog } from '../../infra/log/lmdb/lmdb-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { describeLog } from './log-conformance.js';

describeLog('lmdb', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-log-'));
  const open = () => createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null });
  const log = open();
  return {
    log,
    reopen: async () => open(),
    cleanup: async () => {
      await log.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
});
