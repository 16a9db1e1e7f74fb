import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FatalError, RetryableError } from '../errors.js';
import { silentLogger } from '../telemetry/logger.js';
import { createClickHouse } from './client.js';
import { startTestClickHouse, type TestClickHouse } from './testing.js';

let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse();
});
afterAll(() => ch.stop());

const deduplicating = 'SETTINGS non_replicated_deduplication_window = 1000';

test('command drops and empties tables of any size: the limit of the server does not apply', async () => {
  const create = (name: string) =>
    ch.client.command(`CREATE TABLE ${name} ENGINE = MergeTree ORDER BY number AS SELECT number FROM numbers(100)`);
  await create('large');
  const limited = { settings: { max_table_size_to_drop: '1' } };
  await expect(ch.client.command('TRUNCATE TABLE large', {}, limited)).rejects.toMatchObject({ code: '359' });
  await ch.client.command(`CREATE TABLE limits ENGINE = Memory AS
    SELECT name, value FROM system.settings WHERE name IN ('max_table_size_to_drop', 'max_partition_size_to_drop')`);
  expect(await ch.client.query('SELECT * FROM limits ORDER BY name')).toEqual([
    { name: 'max_partition_size_to_drop', value: '0' },
    { name: 'max_table_size_to_drop', value: '0' },
  ]);
  await ch.client.command('TRUNCATE TABLE large');
  await ch.client.command('DROP TABLE large SYNC');
});

describe('insertRows', () => {
  test('insertRows keeps the values of wide integers, nulls and nested columns', async () => {
    await ch.client.command(
      'CREATE TABLE wide (a UInt256, b Int64, c Nullable(String), d Array(UInt64), e Decimal(38, 18), f DateTime64(3)) ENGINE = MergeTree ORDER BY a',
    );
    const big = 2n ** 256n - 1n;
    await ch.client.insertRows('wide', [
      {
        a: big,
        b: -(2n ** 63n),
        c: null,
        d: [2n ** 64n - 1n],
        e: '12345678901234567890.123456789012345678',
        f: '2026-01-02T03:04:05.678Z',
      },
    ]);
    expect(await ch.client.query('SELECT * FROM wide')).toEqual([
      {
        a: big.toString(),
        b: '-9223372036854775808',
        c: null,
        d: ['18446744073709551615'],
        e: '12345678901234567890.123456789012345678',
        f: '2026-01-02 03:04:05.678',
      },
    ]);
  });

  test('one insert is one block, in the table and in the targets of its views', async () => {
    await ch.client.command('CREATE TABLE blocks (a UInt64) ENGINE = MergeTree ORDER BY a');
    await ch.client.command('CREATE TABLE blocks_seen (rows UInt64) ENGINE = MergeTree ORDER BY tuple()');
    await ch.client.command('CREATE MATERIALIZED VIEW blocks_mv TO blocks_seen AS SELECT count() AS rows FROM blocks');
    await ch.client.insertRows(
      'blocks',
      Array.from({ length: 200_000 }, (_, i) => ({ a: i })),
    );
    expect(await ch.client.query('SELECT rows FROM blocks_seen')).toEqual([{ rows: '200000' }]);
  });

  test('an insert with a used token has no effect on the table and on views of every kind, whatever rows it has', async () => {
    await ch.client.command(
      `CREATE TABLE facts (wallet String, amount UInt64) ENGINE = MergeTree ORDER BY wallet ${deduplicating}`,
    );
    await ch.client.command(
      `CREATE TABLE sums (wallet String, amount UInt64) ENGINE = SummingMergeTree ORDER BY wallet ${deduplicating}`,
    );
    await ch.client.command(
      'CREATE MATERIALIZED VIEW sums_mv TO sums AS SELECT wallet, sum(amount) AS amount FROM facts GROUP BY wallet',
    );
    await ch.client.command(
      `CREATE TABLE big (wallet String, amount UInt64) ENGINE = MergeTree ORDER BY wallet ${deduplicating}`,
    );
    await ch.client.command(
      'CREATE MATERIALIZED VIEW big_mv TO big AS SELECT wallet, amount FROM facts WHERE amount > 1',
    );
    const same = [
      { wallet: 'a', amount: 1 },
      { wallet: 'a', amount: 2 },
    ];
    const totals = async () =>
      (
        await ch.client.query<Record<string, string>>(
          'SELECT (SELECT sum(amount) FROM facts) AS facts, (SELECT sum(amount) FROM sums) AS sums, (SELECT sum(amount) FROM big) AS big',
        )
      )[0];
    for (let i = 0; i < 3; i++) await ch.client.insertRows('facts', same, { dedupToken: 'chain.final-0-0-1' });
    expect(await totals()).toEqual({ facts: '3', sums: '3', big: '2' });
    await ch.client.insertRows('facts', same, { dedupToken: 'chain.final-0-2-3' });
    expect(await totals()).toEqual({ facts: '6', sums: '6', big: '4' });
    await ch.client.insertRows('facts', [{ wallet: 'b', amount: 100 }], { dedupToken: 'chain.final-0-0-1' });
    expect(await totals()).toEqual({ facts: '6', sums: '6', big: '4' });
    await Promise.all(Array.from({ length: 6 }, () => ch.client.insertRows('facts', same, { dedupToken: 'raced' })));
    expect(await totals()).toEqual({ facts: '9', sums: '9', big: '6' });
  });

  test('a repeated chunk is not stored again by a view that was dropped and created again meanwhile', async () => {
    await ch.client.command(
      `CREATE TABLE facts_2 (wallet String, amount UInt64) ENGINE = MergeTree ORDER BY wallet ${deduplicating}`,
    );
    await ch.client.command(
      `CREATE TABLE copies (wallet String, amount UInt64) ENGINE = MergeTree ORDER BY wallet ${deduplicating}`,
    );
    const createView = (amount: string) =>
      ch.client.command(
        `CREATE MATERIALIZED VIEW copies_mv TO copies AS SELECT wallet, ${amount} AS amount FROM facts_2`,
      );
    const insert = (dedupToken: string) =>
      ch.client.insertRows('facts_2', [{ wallet: 'a', amount: 1 }], { dedupToken });
    const copies = () => ch.client.query<{ amount: string }>('SELECT amount FROM copies ORDER BY amount');
    await createView('amount');
    await insert('chain.final-0-0-1');
    await ch.client.command('DROP VIEW copies_mv SYNC');
    await createView('amount * 2');
    await insert('chain.final-0-0-1');
    expect(await copies()).toEqual([{ amount: '1' }]);
    await insert('chain.final-0-2-3');
    expect(await copies()).toEqual([{ amount: '1' }, { amount: '2' }]);
  });

  test('insertBytes takes encoded rows and columns; insertRows takes no rows and rejects bad names', async () => {
    await ch.client.command("CREATE TABLE encoded (a UInt8, b String DEFAULT 'd') ENGINE = MergeTree ORDER BY a");
    await ch.client.insertBytes('test.encoded', 'RowBinary', Buffer.from([7, 8]), { columns: ['a'] });
    await ch.client.insertRows('encoded', []);
    expect(await ch.client.query('SELECT * FROM encoded ORDER BY a')).toEqual([
      { a: 7, b: 'd' },
      { a: 8, b: 'd' },
    ]);
    await expect(ch.client.insertRows('encoded; DROP TABLE encoded', [{ a: 1 }])).rejects.toThrow(FatalError);
    await expect(ch.client.insertRows('encoded', [{ a: 1 }], { columns: ['a) VALUES (1'] })).rejects.toThrow(
      FatalError,
    );
  });
});

describe('failures', () => {
  test('an unreachable server is a RetryableError, a bad query is not', async () => {
    const unreachable = createClickHouse(
      { url: 'http://127.0.0.1:1', user: 'default', password: '', database: 'x' },
      { logger: silentLogger() },
    );
    await expect(unreachable.query('SELECT 1')).rejects.toThrow(RetryableError);
    await expect(unreachable.insertRows('t', [{ a: 1 }])).rejects.toThrow(RetryableError);
    await expect(unreachable.command('SELECT 1')).rejects.toThrow(RetryableError);
    await expect(unreachable.ping()).rejects.toThrow(RetryableError);
    await expect(unreachable.stream('SELECT 1').next()).rejects.toThrow(RetryableError);
    await unreachable.close();
    await expect(ch.client.query('SELECT nope')).rejects.toMatchObject({
      name: 'Error',
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
    });
    await expect(ch.client.insertRows('nope', [{ a: 1 }])).rejects.toMatchObject({ code: '60' });
  });

  test('too little memory is a RetryableError', async () => {
    const hungry = 'SELECT groupArray(repeat(toString(number), 100)) AS a FROM numbers(10000000) FORMAT Null';
    await expect(ch.client.command(hungry, {}, { settings: { max_memory_usage: '20000000' } })).rejects.toThrow(
      RetryableError,
    );
  });

  test.each([75, 243])('a full disk (code %d) is a RetryableError', async (code) => {
    const full = `SELECT throwIf(1, 'no space', toInt16(${code})) SETTINGS allow_custom_error_code_in_throwif = 1`;
    await expect(ch.client.query(full)).rejects.toThrow(RetryableError);
  });

  test('a connection that was idle serves the next query', async () => {
    for (let i = 0; i < 3; i++) {
      expect(await ch.client.query('SELECT 1 AS a')).toEqual([{ a: 1 }]);
      await wait(50);
    }
  });
});

test.each([
  ['a proxy responds that the server is unavailable', 502, '<html>Bad Gateway</html>'],
  ['a proxy without a text', 503, ''],
  [
    'the server shuts down',
    500,
    'Code: 236. DB::Exception: Shutdown is called for table. (ABORTED) (version 26.7.2.1)',
  ],
  [
    'Keeper is unavailable',
    500,
    'Code: 225. DB::Exception: No ZooKeeper connection. (NO_ZOOKEEPER) (version 26.7.2.1)',
  ],
])('a call fails with RetryableError while %s', async (_when, status, body) => {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClickHouse({ url, user: 'default', password: '', database: 'test' }, { logger: silentLogger() });
  await expect(client.query('SELECT 1')).rejects.toThrow(RetryableError);
  await expect(client.insertRows('t', [{ a: 1 }])).rejects.toThrow(RetryableError);
  await client.close();
  server.close();
});
