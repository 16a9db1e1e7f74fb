import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { UsageError } from '../command-line.js';
import { flushToDisk } from '../files/flush-to-disk.js';
import { IMPORT_FORMAT, type ImportManifest } from './format.js';

const MANIFEST = 'manifest.json';
/** Directory of an import that is not finished; `.engine-` is that of older versions. */
export const WORK_PREFIX = '.import-';
const WORK = /^\.(import|engine)-/;
const DATA_FILE =
  /^((chain|ticks)-\d{4}-\d{2}-\d{2}-[0-9a-f]{12}\.ndjson\.gz|markets-[0-9a-f]{12}\.(json|ndjson\.gz))$/;

/** `chain-2026-04-05.ndjson.gz` with a part of its hash: an import never overwrites a file of the one before with other contents. */
export const contentName = (name: string, sha256: string): string =>
  name.replace(/^[^.]+/, (stem) => `${stem}-${sha256.slice(0, 12)}`);

/** The import in a directory; null: none. Throws UsageError if it is a recorded source of another kind, which must not be overwritten. */
export async function readImport(out: string): Promise<ImportManifest | null> {
  let manifest: Partial<ImportManifest> = {};
  try {
    manifest = JSON.parse(await readFile(join(out, MANIFEST), 'utf8')) as Partial<ImportManifest>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  }
  if (manifest.format !== IMPORT_FORMAT)
    throw new UsageError(`${out} has a manifest.json that no import has written: name another directory with --out`);
  return manifest as ImportManifest;
}

const filesOf = ({ chain, ticks, markets }: ImportManifest): readonly string[] =>
  [...chain, ...ticks, markets].map(({ file }) => file);

/** Removes what interrupted imports have left beside the import in `out`. */
export async function removeLeftovers(out: string, current: ImportManifest | null): Promise<void> {
  const used = current === null ? [] : filesOf(current);
  for (const name of await readdir(out))
    if (WORK.test(name) || (DATA_FILE.test(name) && !used.includes(name)))
      await rm(join(out, name), { recursive: true, force: true });
}

/**
 * Moves the files of a new import from `work`, a directory in `out`, to `out`, and removes those of the one before. The rename of the manifest
 * exchanges the two: at every moment one of them is complete.
 */
export async function replaceImport(
  { out, work }: { readonly out: string; readonly work: string },
  before: ImportManifest | null,
  manifest: ImportManifest,
): Promise<void> {
  const files = filesOf(manifest);
  for (const file of files) {
    await flushToDisk(join(work, file));
    await rename(join(work, file), join(out, file));
  }
  const draft = join(work, MANIFEST);
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  await flushToDisk(out);
  await rename(draft, join(out, MANIFEST));
  await flushToDisk(out);
  for (const file of before === null ? [] : filesOf(before))
    if (!files.includes(file) && file === basename(file)) await rm(join(out, file), { force: true });
}
