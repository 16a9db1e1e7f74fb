import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { shortHistory } from '../support/short-recording.js';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from '../support/small-disk.js';

const noDisk = whyNoSmallDisk();
/** Full before the history is in the log. */
const DISK_MB = 40;
const running: Product[] = [];
const disks: SmallDisk[] = [];
afterEach(async () => {
  for (const product of running.splice(0).reverse()) await product.dispose();
  for (const disk of disks.splice(0)) disk.remove();
});

const env = { ...shortHistory(), LOG_LEVEL: 'info' };

/** Tables of an undisturbed run. */
let truth: Record<string, string>;
beforeAll(async () => {
  truth = await referenceTables('short');
}, REFERENCE_RUN_TIMEOUT_MS);

describe.skipIf(noDisk !== null)(`a full disk under the log${noDisk === null ? '' : ` (not run: ${noDisk})`}`, () => {
  it('is reported to the operator, and the load resumes without a loss once there is space', async () => {
    const disk = mountSmallDisk(DISK_MB);
    disks.push(disk);
    const product = await startProduct({ env: { ...env, LOG_URL: `lmdb:${disk.dir}/log` } });
    running.push(product);
    const full = async () => {
      const { ready, checks } = await product.readyz('ingest');
      return !ready && checks.log?.ok === false && /No space left for the log/.test(checks.log.detail ?? '');
    };
    await eventually('ingest to say that the disk is full', full, 120_000);
    const pid = product.pid('ingest');
    expect(await product.metric('ingest', 'oddstream_log_up')).toBe(0);
    expect(await product.metric('ingest', 'oddstream_log_errors_total')).toBeGreaterThan(0);
    expect(await product.metric('ingest', 'oddstream_log_unavailable_seconds')).toBeGreaterThan(0);
    expect(product.output()).toContain('cannot write the log now');
    disk.enlarge(2_000);
    await eventually('ingest to write again', async () => (await product.readyz('ingest')).checks.log?.ok);
    expect(await product.metric('ingest', 'oddstream_log_up')).toBe(1);
    await untilTablesComplete(product);
    expect(await digest(product)).toEqual(truth);
    expect(product.pid('ingest')).toBe(pid);
  }, 400_000);
});
