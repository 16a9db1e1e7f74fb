import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** `npm run bench [-- name]`: runs every tests/bench/*.bench.ts, or those whose name contains the argument. */
const folder = dirname(fileURLToPath(import.meta.url));
const nameFilter = process.argv[2] ?? '';
const files = readdirSync(folder).filter((file) => file.endsWith('.bench.js') && file.includes(nameFilter));
if (files.length === 0) {
  console.error(
    `No benchmark name contains "${nameFilter}". Available: ${readdirSync(folder)
      .filter((file) => file.endsWith('.bench.js'))
      .map((file) => file.replace('.bench.js', ''))
      .join(', ')}`,
  );
  process.exit(1);
}
for (const file of files.sort()) {
  console.log(`\n## ${file.replace('.bench.js', '')}\n`);
  const bench = (await import(pathToFileURL(join(folder, file)).href)) as { run: () => Promise<void> };
  await bench.run();
}
process.exit(0);
