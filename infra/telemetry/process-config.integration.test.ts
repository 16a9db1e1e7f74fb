import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist');

const start = (script: string, env: Record<string, string>) =>
  new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(process.execPath, [join(dist, script)], options, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
  });

describe('a process with a bad setting', () => {
  it.each([
    ['api', 'api/main.js', 'TRUSTED_PROXIES', 'nginx'],
    ['api', 'api/main.js', 'CLICKHOUSE_URL', 'http://user:50%off@tables.example:8123'],
    ['clickhouse', 'infra/clickhouse/main.js', 'ALLOWED_HOSTS', 'https://name'],
    ['kafka', 'infra/kafka/main.js', 'API_PORT', ' '],
    ['ingest', 'ingest/main.js', 'POLYGON_RPC_URL', 'ws://node.example'],
    ['processors', 'processors/main.js', 'API_PORT', 'x'],
    ['stream-gateway', 'stream-gateway/main.js', 'API_PORT', 'x'],
  ])('%s ends with 78 and the name of the setting (%s, %s=%s)', async (name, script, setting, value) => {
    const { code, out, err } = await start(script, { [setting]: value });
    expect([code, err]).toEqual([78, '']);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      ...{ level: 'fatal', process: name, code: 78 },
      msg: expect.stringMatching(new RegExp(`^Bad configuration:\\n  ${setting}: `)),
    });
  });
});
