import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { connectFrames } from '../support/frames.js';
import { eventually } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { type ComposeSystem, createComposeSystem, processes, servers } from './compose-system.js';
import { docker } from './docker.js';
import type { Images } from './images.js';

const NEXT_IMAGE = 'oddstream:test-next';

/** infra/deploy/compose.yaml as a user runs it: the tests are steps of one life of the system. */
export function describeCompose(imagesOf: () => Images): void {
  describe('docker compose up', () => {
    let system: ComposeSystem;
    /** Tables of an undisturbed run on the embedded engines. */
    let truth: Promise<Record<string, string>>;
    beforeAll(async () => {
      truth = referenceTables('short');
      // Awaited where tables are compared; `up` waits for health checks meanwhile.
      truth.catch(() => undefined);
      system = await createComposeSystem(imagesOf());
      await system.up();
    }, REFERENCE_RUN_TIMEOUT_MS + 600_000);
    afterAll(() => system?.dispose());

    const expectTruth = async () => {
      await untilTablesComplete(system);
      expect(await digest(system)).toEqual(await truth);
    };
    const untilTrades = () =>
      eventually('trades over REST', async () => {
        const { status, body } = await system.get('/v3/trades?limit=3');
        return status === 200 && JSON.stringify(body).includes('0x');
      });

    it('has the tables of an undisturbed run after docker kill -s KILL of each service during the load', async () => {
      for (const service of [...servers, ...processes]) {
        const id = await system.container(service);
        await docker('kill', '--signal', 'KILL', id);
        await system.up(service);
        expect(await system.container(service), service).toBe(id);
        await eventually(`${service} to run`, async () => {
          return (await docker('inspect', '--format', '{{.State.Running}}', id)) === 'true';
        });
      }
      await expectTruth();
    }, 480_000);

    it('has healthy services and serves trades over REST', async () => {
      await system.untilHealthy();
      await untilTrades();
    }, 180_000);

    it('rebuilds a table from the log with the same rows', async () => {
      await system.compose('stop', 'processors');
      const output = await system.program('processors', 'dist/processors/rebuild/main.js', 'fills');
      expect(output).toContain('"msg":"identical"');
      expect(output).toContain('"different":[]');
      await system.up('processors');
      await expectTruth();
    }, 240_000);

    it('has lost nothing after down and up', async () => {
      await system.compose('down', '--timeout', '10');
      await system.up();
      await expectTruth();
      await untilTrades();
    }, 300_000);

    it('changes the tag of the image of one service after the other, and then serves live events', async () => {
      await docker('tag', system.variables.ODDSTREAM_IMAGE as string, NEXT_IMAGE);
      system.variables.ODDSTREAM_IMAGE = NEXT_IMAGE;
      for (const service of ['processors', 'api', 'stream-gateway'] as const) await system.up(service);
      await expectTruth();
      await untilTrades();
      system.variables.RECORDED_HISTORY_ONLY = '0';
      await system.up('ingest');
      for (const service of processes)
        expect(await docker('inspect', '--format', '{{.Config.Image}}', await system.container(service))).toBe(
          NEXT_IMAGE,
        );
      const client = await eventually('the event socket', async () =>
        connectFrames(`${system.socket}?key=${await system.key()}`),
      );
      try {
        client.send({ action: 'subscribe', type: 'blocks', filters: { snapshot_count: 0 } });
        await client.until((frame) => frame.type === 'block', 120_000);
      } finally {
        client.close();
      }
      await system.untilHealthy();
    }, 300_000);
  });
}
