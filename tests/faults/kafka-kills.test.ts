import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { type ProcessName, startProduct } from '../support/product.js';
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
    let killed = 0;
    for (const [index, name] of victims.entries()) {
      await sleep(1200 + ((index * 379) % 700));
      if (name === 'broker') {
        await broker.halt('kill');
        await sleep(1500);
        await broker.start();
        killed++;
        continue;
      }
      const pid = product.pid(name);
      if (pid === null) continue;
      process.kill(pid, 'SIGKILL');
      killed++;
    }
    expect(killed).toBeGreaterThan(3);
    await untilTablesComplete(product);
    expect(await digest(product)).toEqual(truth);
  },
  900_000,
);
