import { type ClickHouseProcess, startClickHouseProcess } from '../support/clickhouse-process.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';

/** Numbers of processes of a role that are compared. */
export const COUNTS = [1, 2, 4] as const;

/** Measures every number of processes on a Kafka broker of its own and one ClickHouse. `print`: called with each result. Throws without Kafka. */
export async function measureCounts<Result>(
  measure: (count: number, logUrl: string, clickhouse: ClickHouseProcess) => Promise<Result>,
  print: (count: number, result: Result) => void,
): Promise<readonly Result[]> {
  const missing = await whyNoKafka();
  if (missing !== null) throw new Error(`Kafka is needed: ${missing}`);
  const clickhouse = await startClickHouseProcess();
  try {
    const results: Result[] = [];
    for (const count of COUNTS) {
      const kafka = await startTestKafka({ quickStart: false });
      try {
        const result = await measure(count, kafka.url, clickhouse);
        results.push(result);
        print(count, result);
      } finally {
        await kafka.stop();
      }
    }
    return results;
  } finally {
    await clickhouse.stop();
  }
}
