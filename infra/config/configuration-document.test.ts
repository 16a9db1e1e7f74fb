import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentVariables } from './config.js';
import { configurationDocument } from './configuration-document.js';

const file = join(import.meta.dirname, '../../docs/CONFIGURATION.md');

describe('configurationDocument', () => {
  it('equals docs/CONFIGURATION.md (npm run docs:config writes it)', async () => {
    await expect(configurationDocument()).toMatchFileSnapshot(file);
  });

  it('has one row for every environment variable', () => {
    const rows = configurationDocument().matchAll(/^\| `([A-Z_]+)` \| (.+) \| (.+) \| (.+) \|$/gm);
    expect([...rows].map((row) => row[1]).sort()).toEqual([...environmentVariables].sort());
  });

  it('states the bounds and the default of a number', () => {
    expect(configurationDocument()).toContain('| `ANALYST_TIMEOUT_S` | 1 to 3600 | `30` |');
  });
});
