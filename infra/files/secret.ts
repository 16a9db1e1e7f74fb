import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '../errors.js';

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * A random secret of this installation, 32 bytes in base64url, stored in `<dataDir>/<name>` (mode 600) and created when it is missing. Concurrent
 * callers get the same one. Throws FatalError when the file has other contents.
 */
export async function readOrCreateSecret(dataDir: string, name: string): Promise<string> {
  const path = join(dataDir, name);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const existing = await read(path);
  if (existing !== undefined) return existing;
  // Written under another name and then linked: a link never shows an incomplete secret and never replaces an existing one.
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await read(path)) ?? readOrCreateSecret(dataDir, name);
}

async function read(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new FatalError(`Cannot read ${path}. Make it readable for the user that runs Oddstream.`, { cause: error });
  }
  if (!SECRET.test(text)) {
    throw new FatalError(
      `${path} does not contain a secret of 43 characters. Delete it: a new one is created at the next start.`,
    );
  }
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, 0o600);
  return text;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
