import { afterEach, describe, expect, it } from 'vitest';
import { startTcpProxy } from '../support/anvil.js';
import { digest, untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { startTestRegistry, whyNoRegistry } from '../support/schema-registry.js';
import { shortHistory } from '../support/short-recording.js';

const missing = await whyNoRegistry();
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}, 90_000);

async function start(env: Record<string, string>): Promise<Product> {
  const product = await startProduct({ env: { ...shortHistory(), ...env } });
  cleanups.push(() => product.dispose());
  return product;
}

describe.skipIf(missing !== null)(
  `the whole product with a schema registry${missing === null ? '' : ` (not run: ${missing})`}`,
  () => {
    it(
      'produces the tables of a run without a registry, although the registry is unreachable when a process restarts',
      async () => {
        const truth = await referenceTables('short');
        const registry = await startTestRegistry();
        cleanups.push(() => registry.stop());
        // A foreign schema is registered first, so that the ids differ from the committed ones.
        const foreign = await fetch(`${registry.url}/subjects/com.example.Foreign/versions`, {
          method: 'POST',
          headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
          body: JSON.stringify({
            schema: '{"type":"record","name":"Foreign","namespace":"com.example","fields":[{"name":"n","type":"int"}]}',
          }),
        });
        expect(foreign.status).toBe(200);
        const proxy = await startTcpProxy(registry.port);
        cleanups.push(() => proxy.close());
        const product = await start({ SCHEMA_REGISTRY_URL: `http://127.0.0.1:${proxy.port}/apis/ccompat/v7` });
        await untilUp(product);
        proxy.interrupt();
        process.kill(product.pid('processors')!, 'SIGKILL');
        await eventually('the reason in the output', async () =>
          /schema registry at .* is unavailable/.test(product.output()),
        );
        expect((await product.get('/v1/status')).status).toBe(200);
        proxy.resume();
        await untilTablesComplete(product);
        expect(await digest(product)).toEqual(truth);
        const subjects = (await (await fetch(`${registry.url}/subjects`)).json()) as string[];
        expect(subjects).toContain('oddstream.Trade');
      },
      480_000 + REFERENCE_RUN_TIMEOUT_MS,
    );
  },
);
