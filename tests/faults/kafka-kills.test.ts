import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { killDuringLoad } from '../support/kill-during-load.js';
import { eventually, type ProcessName, startProduct } from '../support/product.js';
import { referenceTables } from '../support/reference-run.js';
import { shortHistory } from '../support/short-recording.js';

const missing = await whyNoKafka();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it.skipIf(missing !== null)(
  `the whole product on Kafka ends with the tables of an undisturbed run after kill -9 of processes and of the broker${missing === null ? '' : ` (not run: ${missing})`}`,
  async () => {
    const truth = await referenceTables('short');
    const broker = await startTestKafka();
    cleanups.push(() => broker.stop());
    const product = await startProduct({ env: { ...shortHistory(), LOG_URL: broker.url } });
    cleanups.push(() => product.dispose());
    const victims: (ProcessName | 'broker')[] = [
      'ingest',
      'processors',
      'broker',
      'clickhouse',
      'processors',
      'ingest',
    ];
    await killDuringLoad({
      product,
      total: Number.parseInt(truth.fills ?? '', 10),
      victims,
      required: ['processors', 'broker'],
      async kill(name) {
        if (name === 'broker') {
          await broker.halt('kill');
          await sleep(1500);
          await broker.start();
        } else process.kill(await eventually(`${name} to run`, async () => product.pid(name)), 'SIGKILL');
      },
    });
    await untilTablesComplete(product);
    expect(await digest(product)).toEqual(truth);
  },
  900_000,
);
