// Adds the hashes that package-lock.json lacks, as npm's registry tells them: npm writes none for binaries of platforms that the registry it was made
// with does not have. Run it with the public registry after an update of packages: `npm run lock:integrity`. Exit code 1 when some are still missing.
//   node infra/up/lock-integrity.mjs [path of package-lock.json]
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
const say = (text) => process.stderr.write(`${text}\n`);

let missing = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  if (place === '' || entry.link === true || entry.integrity !== undefined) continue;
  const name = entry.name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const spec = `${name}@${entry.version}`;
  const known = await run('npm', ['view', spec, 'dist.integrity']).then(
    ({ stdout }) => stdout.trim(),
    (error) => String(error.stderr ?? error),
  );
  if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(known)) {
    entry.integrity = known;
    say(`${spec}: added`);
  } else {
    missing += 1;
    say(`${spec}: the registry tells no hash (${known.match(/E\d{3}|E[A-Z]+/)?.[0] ?? 'unknown reason'})`);
  }
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
say(missing === 0 ? 'Every package has a hash.' : `${missing} packages are without a hash.`);
process.exit(missing === 0 ? 0 : 1);
