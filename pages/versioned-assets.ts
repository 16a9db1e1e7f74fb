import { createHash } from 'node:crypto';
import { CSS, HTML, JAVASCRIPT, type StaticFile } from './static-file.js';

/** Beginning of the addresses of scripts and style sheets with a version. */
export const VERSIONED_PREFIX = '/v/';
const YEAR_S = 31_536_000;

const isAsset = ({ type, maxAgeS }: StaticFile): boolean => maxAgeS === 0 && (type === JAVASCRIPT || type === CSS);

/**
 * Gives scripts and style sheets an address that names their version, `/v/<version>/<path>`, and makes pages and modules refer to it, so that browsers keep
 * them for a year and still use those of the next release at once. The version is a hash of them all, since modules import each other. Files with a
 * lifetime of their own (packages) and addresses that are built at run time stay as they are.
 */
export function withVersionedAssets(files: readonly StaticFile[]): readonly StaticFile[] {
  const assets = files.filter(isAsset);
  const hash = createHash('sha256');
  for (const { path, content } of assets) hash.update(`${path}\n${content.length}\n`).update(content);
  const version = hash.digest('base64url').slice(0, 12);
  const paths = assets.map(({ path }) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const references = new RegExp(`(["'])(${paths.join('|')})\\1`, 'g');
  const refer = (content: StaticFile['content']): string =>
    String(content).replace(
      references,
      (_, quote: string, path: string) => `${quote}${VERSIONED_PREFIX}${version}${path}${quote}`,
    );
  return files.map((file) => {
    if (isAsset(file)) return { ...file, content: refer(file.content), maxAgeS: YEAR_S, version };
    return file.type === HTML ? { ...file, content: refer(file.content) } : file;
  });
}
