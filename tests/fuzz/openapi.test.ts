import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';
import { ensureSchemathesis, whyNoSchemathesis } from '../support/schemathesis.js';

const missing = await whyNoSchemathesis();
/** Longer by hand; the seed too can be set, to look elsewhere or to repeat a run. */
const BUDGET_S = Number(process.env.ODDSTREAM_FUZZ_SECONDS ?? 20);
const SEED = process.env.ODDSTREAM_FUZZ_SEED ?? '1';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Answers of the api so far, by status code. */
async function responseCounts(product: Product): Promise<Map<number, number>> {
  const byStatus = new Map<number, number>();
  for (const [labels, count] of await product.series('api', 'oddstream_api_request_seconds_count')) {
    const status = Number(/status="(\d+)"/.exec(labels)?.[1]);
    byStatus.set(status, (byStatus.get(status) ?? 0) + count);
  }
  return byStatus;
}

describe.skipIf(missing !== null)(`the api under a fuzzer${missing === null ? '' : ` (not run: ${missing})`}`, () => {
  it(
    'answers whatever its OpenAPI document allows, and much it does not, as the document says and never with 500',
    async () => {
      const [program, product] = await Promise.all([ensureSchemathesis(resolve('data')), startLoaded()]);
      cleanups.push(() => product.dispose());
      const dir = mkdtempSync(join(tmpdir(), 'oddstream-fuzz-'));
      cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
      const args = [
        ...['run', `${product.api}/openapi.json`, '-H', `x-api-key: ${product.key()}`, '--checks', CHECKS.join()],
        ...['--phases', 'examples,coverage,fuzzing', '--max-time', String(BUDGET_S), '--max-examples', '10'],
        ...['--seed', SEED, '--generation-database', 'none', '--request-timeout', '20', '--continue-on-failure'],
        ...['--warnings', 'off', '--no-color'],
      ];
      // `startLoaded` has polled /readyz until it was 200.
      const before = await responseCounts(product);
      const fuzzer = spawn(program, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
      cleanups.push(() => fuzzer.kill('SIGKILL'));
      let report = '';
      for (const stream of [fuzzer.stdout, fuzzer.stderr])
        stream.on('data', (chunk) => {
          report += chunk;
        });
      const [code] = await once(fuzzer, 'close');
      expect(code, report.slice(-8000)).toBe(0);
      const byStatus = new Map(
        [...(await responseCounts(product))]
          .map(([status, count]) => [status, count - (before.get(status) ?? 0)] as const)
          .filter(([, count]) => count > 0),
      );
      const total = [...byStatus.values()].reduce((a, b) => a + b, 0);
      // A run with few requests, or with mostly rejected ones or errors, would prove nothing. A busy machine sends two a second.
      expect(total).toBeGreaterThan(25);
      expect((byStatus.get(200) ?? 0) / total).toBeGreaterThan(0.2);
      expect((byStatus.get(429) ?? 0) / total).toBeLessThan(0.2);
      expect([...byStatus.keys()].filter((status) => status >= 500)).toEqual([]);
    },
    REFERENCE_RUN_TIMEOUT_MS,
  );
});
