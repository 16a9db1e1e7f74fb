import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropUnusedTokens } from './deduplication-logs.js';

let directory: string;
let table: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'oddstream-tokens-'));
  table = join(directory, 'store', '0a1', '0a1b2c');
  mkdirSync(join(table, 'deduplication_logs'), { recursive: true });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const log = (n: number) => join(table, 'deduplication_logs', `deduplication_log_${n}.txt`);
const parts = (...names: string[]) => {
  for (const name of names) mkdirSync(join(table, name));
};

describe('dropUnusedTokens', () => {
  it('drops the token of a part that is not there, and keeps those of parts, merged parts and mutated parts', () => {
    parts('202601_1_3_2', '202601_4_4_0_9', '202602_6_6_1', 'tmp_insert_202602_5_5_0', 'detached');
    writeFileSync(log(1), '1\t202601_2_2_0\ta\n1\t202601_4_4_0\tb\n');
    writeFileSync(log(2), '1\t202602_5_5_0\tc\n1\t202602_6_6_1\td\n');
    expect(dropUnusedTokens(directory)).toEqual([{ table: join('0a1', '0a1b2c'), part: '202602_5_5_0' }]);
    expect(readFileSync(log(1), 'utf8')).toBe('1\t202601_2_2_0\ta\n1\t202601_4_4_0\tb\n');
    expect(readFileSync(log(2), 'utf8')).toBe('1\t202602_5_5_0\tc\n1\t202602_6_6_1\td\n2\t202602_5_5_0\tc\n');
    expect(dropUnusedTokens(directory)).toEqual([]);
  });

  it('cuts off a record that was written in part', () => {
    parts('all_1_1_0');
    writeFileSync(log(9), '');
    writeFileSync(log(10), '1\tall_1_1_0\ta\n1\tall_2_2_0\tb\n1\tall_3_3');
    expect(dropUnusedTokens(directory)).toMatchObject([{ part: 'all_2_2_0' }]);
    expect(readFileSync(log(10), 'utf8')).toBe('1\tall_1_1_0\ta\n1\tall_2_2_0\tb\n2\tall_2_2_0\tb\n');
  });

  it('leaves tokens that were dropped, and old ones whose parts may have been removed', () => {
    const old = Array.from({ length: 70 }, (_, i) => `1\tall_${i}_${i}_0\tt${i}\n`).join('');
    parts('all_6_69_4');
    writeFileSync(log(1), `${old}1\tall_70_70_0\tx\n2\tall_70_70_0\tx\n`);
    expect(dropUnusedTokens(directory)).toEqual([]);
  });

  it('finds nothing in an empty directory', () => {
    expect(dropUnusedTokens(join(directory, 'none'))).toEqual([]);
  });
});
