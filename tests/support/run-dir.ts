import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory of this test run, shared by its workers and removed at its end. */
    runDir: string;
  }
}

export default function setUp(project: TestProject): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-run-'));
  project.provide('runDir', dir);
  return () => rmSync(dir, { recursive: true, force: true });
}
