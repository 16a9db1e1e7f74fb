import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { reportOnFailure } from './page-reports.js';

/** The first found is used: Chromium without its windows needs half the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function executable(): string | null {
  if (process.env.CHROMIUM_PATH !== undefined) return process.env.CHROMIUM_PATH;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const files = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return files.find(isExecutable) ?? null;
}

/** Why this machine has no browser; null when it has one. In CI always null, so that a missing browser fails the tests. */
export function withoutBrowser(): string | null {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  return executable() === null ? `none of ${NAMES.join(', ')} is installed` : null;
}

/** Starts a real headless Chromium without background requests. `flags`: additional command-line flags. */
export async function startBrowser(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = executable();
  if (executablePath === null) throw new Error(`None of ${NAMES.join(', ')} is installed`);
  const args = [
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    ...flags,
  ];
  // Chromium's sandbox does not start as root, as in containers.
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  const browser = await chromium.launch({ executablePath, args });
  reportOnFailure(browser);
  return browser;
}
