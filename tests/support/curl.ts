import { spawnSync } from 'node:child_process';

/** Why this machine cannot run curl; null when it can. In CI always null, so that a missing curl fails the tests. */
export function whyNoCurl(): string | null {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  return spawnSync('curl', ['--version']).error === undefined ? null : 'no curl on this machine';
}
