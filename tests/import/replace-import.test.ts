import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openImported } from '../../ingest/shared/imported/open-imported.js';
import { nameOf, parties, runImport } from './import-files.js';

/** Ends the process without notice before its n-th change of a file name. */
const KILLER = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  let left = Number(process.env.CHANGES);
  for (const name of ['rename', 'rm']) {
    const original = fs[name];
    fs[name] = (...args) => {
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      left -= 1;
      return original(...args);
    };
  }
  syncBuiltinESMExports();
`)}`;

describe('a repeated import', () => {
  const root = mkdtempSync(join(tmpdir(), 'oddstream-import-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const path = (name: string) => join(root, name);
  function folder(name: string, days: Readonly<Record<string, string>>): string {
    mkdirSync(path(name));
    for (const [day, text] of Object.entries(days)) writeFileSync(join(path(name), nameOf(day)), text);
    return path(name);
  }
  const run = (from: string, out: string, changes?: number) =>
    runImport(
      from,
      out,
      changes === undefined ? {} : { nodeOptions: ['--import', KILLER], env: { CHANGES: `${changes}` } },
    );
  /** Blocks of an import whose files are all there and whole. */
  async function blocksIn(out: string): Promise<readonly number[]> {
    const imported = await openImported(out);
    const blocks: number[] = [];
    for await (const { block } of imported?.chainRows(0, 1_000) ?? []) blocks.push(block);
    return blocks;
  }
  const filesIn = (out: string) => {
    const { chain, ticks, markets } = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
    return [...[...chain, ...ticks, markets].map(({ file }: { file: string }) => file), 'manifest.json'].sort();
  };
  const NOTE = 'Note: 2 rows up to block 201 are not in the import that was here.';

  let bothDays: string;
  beforeAll(async () => {
    const second = parties('2026-04-06', [200, 201]);
    bothDays = folder('both', { '2026-04-05': parties('2026-04-05', [100, 101]), '2026-04-06': second });
    expect(await run(folder('second', { '2026-04-06': second }), path('before'))).toMatchObject({ code: 0, err: '' });
  });

  it('leaves the earlier import as it is when a file is rejected', async () => {
    const bad = folder('bad', {
      '2026-04-05': parties('2026-04-05', [100]),
      '2026-04-06': parties('2026-04-06', [200], { wallet: '0xabc' }),
    });
    const out = path('rejected');
    cpSync(path('before'), out, { recursive: true });
    expect(await run(bad, out)).toMatchObject({ code: 64, err: expect.stringContaining('wallet is "0xabc"') });
    expect(await blocksIn(out)).toEqual([200, 201]);
    expect(readdirSync(out).sort()).toEqual(filesIn(out));
    expect((await run(bothDays, out)).out).toContain(NOTE);
    expect(await blocksIn(out)).toEqual([100, 101, 200, 201]);
  });

  it.each([
    ['within its last row', -5],
    ['before the end of its last line', -1],
    ['to nothing', 0],
  ])('rejects a file that is cut %s, and leaves the earlier import as it is', async (name, end) => {
    const whole = parties('2026-04-05', [100, 101]);
    const cut = folder(`cut ${name}`, { '2026-04-05': end === 0 ? '' : whole.slice(0, end) });
    const out = path(`from cut ${name}`);
    cpSync(path('before'), out, { recursive: true });
    expect(await run(cut, out)).toMatchObject({
      code: 64,
      err: expect.stringContaining(`${nameOf('2026-04-05')} is empty or cut: copy or export it again`),
    });
    expect(await blocksIn(out)).toEqual([200, 201]);
  });

  it('leaves one of both imports complete wherever it is killed, and a further one cleans up and has the note', async () => {
    const seen: string[] = [];
    for (let changes = 0; ; changes++) {
      const out = path(`killed-${changes}`);
      cpSync(path('before'), out, { recursive: true });
      const { signal, code } = await run(bothDays, out, changes);
      const blocks = await blocksIn(out);
      if (signal === null) {
        expect([code, blocks]).toEqual([0, [100, 101, 200, 201]]);
        break;
      }
      expect(signal).toBe('SIGKILL');
      const isOld = blocks.length === 2;
      expect(blocks).toEqual(isOld ? [200, 201] : [100, 101, 200, 201]);
      const repeated = await run(bothDays, out);
      expect(repeated).toMatchObject({ code: 0, err: '' });
      expect(repeated.out.includes(NOTE)).toBe(isOld);
      expect(await blocksIn(out)).toEqual([100, 101, 200, 201]);
      expect(readdirSync(out).sort()).toEqual(filesIn(out));
      seen.push(isOld ? 'old' : 'new');
    }
    expect([...new Set(seen)]).toEqual(['old', 'new']);
    expect(seen.length).toBeGreaterThan(5);
  });
});
