// From schemas/avsc/*.avsc: the committed registry (schemas/registry.lock.json) and the TypeScript types (schemas/types.gen.ts).
//   node schemas/tools/generate.mjs          write both; a changed schema gets a new id if BACKWARD compatible, else this fails
//   node schemas/tools/generate.mjs --check  write nothing; fail when either file is stale or a change is breaking
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { planRegistry, renderTypes } from './schema-tools.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const check = process.argv.includes('--check');
const lockFile = join(root, 'registry.lock.json');
const typesFile = join(root, 'types.gen.ts');
const read = (file, fallback) => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return fallback;
    throw error;
  }
};

const sources = readdirSync(join(root, 'avsc'))
  .filter((file) => file.endsWith('.avsc'))
  .sort()
  .map((file) => ({ kind: basename(file, '.avsc'), schema: JSON.parse(read(join(root, 'avsc', file))) }));
const oldLock = read(lockFile, '[]\n');
const oldTypes = read(typesFile, '');
const plan = planRegistry(JSON.parse(oldLock), sources);
if (plan.breaking.length > 0) {
  console.error(`Not BACKWARD compatible:\n${plan.breaking.map((line) => `  ${line}`).join('\n')}`);
  process.exit(1);
}
const newLock = `[\n${plan.entries.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`;
const newTypes = renderTypes(sources);
if (!check) {
  writeFileSync(lockFile, newLock);
  writeFileSync(typesFile, newTypes);
  console.log(`${sources.length} schemas, ${plan.entries.length} registered versions`);
} else if (newLock !== oldLock || newTypes !== oldTypes) {
  console.error('schemas/registry.lock.json or schemas/types.gen.ts is stale: run `npm run schemas`.');
  process.exit(1);
} else console.log(`${sources.length} schemas up to date and BACKWARD compatible`);
