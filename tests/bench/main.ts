import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadConfig } from '../../infra/config/config.js';
import { benches } from './report/benches.js';
import type { Figure } from './report/figure.js';
import { reportOf } from './report/report.js';
import { readResults, runAndStore } from './report/results.js';

/**
 * `npm run bench`: runs every benchmark, each in a process of its own, and writes the report. `-- <name>`: runs those whose name contains it and
 * stores their figures in the data directory. `-- report`: writes docs/BENCHMARKS.md and its plots from the stored figures.
 */
const folder = dirname(fileURLToPath(import.meta.url));
const root = join(folder, '..', '..', '..');
const results = join(loadConfig().dataDir, 'bench');
const argument = process.argv[2];

function writeReport(): void {
  const { markdown, plots } = reportOf(benches, readResults(results));
  const plotFolder = join(root, 'docs', 'benchmarks');
  mkdirSync(plotFolder, { recursive: true });
  writeFileSync(join(root, 'docs', 'BENCHMARKS.md'), markdown);
  for (const [name, svg] of plots) writeFileSync(join(plotFolder, name), svg);
  console.log(`docs/BENCHMARKS.md is written from the results in ${results}`);
}

async function runOne(name: string): Promise<void> {
  console.log(`\n## ${name}\n`);
  const file = pathToFileURL(join(folder, `${name}.bench.js`)).href;
  const bench = (await import(file)) as { run: () => Promise<readonly Figure[]> };
  await runAndStore({ bench: name, run: bench.run, folder: results, root, env: process.env });
}

const names = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.js'))
  .map((file) => file.replace('.bench.js', ''))
  .sort();

if (argument === 'report') writeReport();
else if (argument === undefined) {
  const failed = names.filter((name) => {
    const { status } = spawnSync(process.execPath, [...process.execArgv, process.argv[1] ?? '', name], {
      stdio: 'inherit',
    });
    return status !== 0;
  });
  writeReport();
  if (failed.length > 0) {
    console.error(`Failed: ${failed.join(', ')}`);
    process.exit(1);
  }
} else {
  const chosen = existsSync(join(folder, `${argument}.bench.js`))
    ? [argument]
    : names.filter((name) => name.includes(argument));
  if (chosen.length === 0) {
    console.error(`No benchmark name contains "${argument}". Available: ${names.join(', ')}`);
    process.exit(1);
  }
  for (const name of chosen) await runOne(name);
}
process.exit(0);
