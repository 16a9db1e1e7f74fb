import { join, resolve } from 'node:path';
import { pythonWith, whyNoPython } from './python.js';

export const whyNoSchemathesis = (): Promise<string | null> => whyNoPython('Schemathesis');

/** Path of the program in a separate virtual environment with exactly the committed packages; installed if it does not exist. */
export async function ensureSchemathesis(dataDir: string): Promise<string> {
  const programs = await pythonWith('schemathesis', resolve('tests/fuzz/requirements.txt'), dataDir);
  return join(programs, 'schemathesis');
}
