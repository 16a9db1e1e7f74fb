import { join, resolve } from 'node:path';
import { pythonWith, whyNoPython } from './python.js';

export const whyNoSchemathesis = (): Promise<string | null> => whyNoPython('Schemathesis');

/** The program, from a virtual environment of its own with exactly the committed packages; installed when it is not there yet. */
export async function ensureSchemathesis(dataDir: string): Promise<string> {
  const programs = await pythonWith('schemathesis', resolve('tests/fuzz/requirements.txt'), dataDir);
  return join(programs, 'schemathesis');
}
