// Adds missing integrity hashes to package-lock.json from npm's registry: npm writes none for the binaries of a platform that the registry in use
// does not have. Run it with the public registry after an update of packages: `npm run lock:integrity`. Exit code 1 when some are still missing.
//   node infra/up/lock-integrity.mjs [path of package-lock.json]
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const lockPath = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(lockPath, 'utf8'));
const print = (text) => process.stderr.write(`${text}\n`);

let missing = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.link === true || entry.integrity !== undefined) continue;
  const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const spec = `${name}@${entry.version}`;
  const known = await run('npm', ['view', spec, 'dist.integrity']).then(
    ({ stdout }) => stdout.trim(),
    (error) => String(error.stderr ?? error),
  );
  if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(known)) {
    entry.integrity = known;
    print(`${spec}: added`);
  } else {
    missing += 1;
    print(`${spec}: the registry has no hash (${known.match(/E\d{3}|E[A-Z]+/)?.[0] ?? 'unknown reason'})`);
  }
}
writeFileSync(lockPath, `${JSON.stringify(lock, null, 2)}\n`);
print(missing === 0 ? 'Every package has a hash.' : `${missing} packages are without a hash.`);
process.exit(missing === 0 ? 0 : 1);
