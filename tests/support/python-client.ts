import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonWith } from './python.js';

const children: ChildProcess[] = [];

/** A Python program of tests/e2e that runs until `stopPythonClients`. */
export interface PythonClient {
  /** The JSON lines that it has printed. */
  readonly lines: Record<string, unknown>[];
  /** What it has printed to stderr. */
  errors(): string;
  /** Sends it a JSON line. */
  send(command: object): void;
}

/** Starts `tests/e2e/<script>` with the packages of tests/socket/requirements.txt. */
export async function startPythonClient(script: string, ...args: readonly string[]): Promise<PythonClient> {
  const programs = await pythonWith('websockets', 'tests/socket/requirements.txt');
  const stdio = ['pipe', 'pipe', 'pipe'] as const;
  const child = spawn(join(programs, 'python'), [join('tests/e2e', script), ...args], { stdio: [...stdio] });
  children.push(child);
  const lines: Record<string, unknown>[] = [];
  let errors = '';
  if (child.stdout !== null)
    createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  return {
    lines,
    errors: () => errors,
    send: (command) => child.stdin?.write(`${JSON.stringify(command)}\n`),
  };
}

export function stopPythonClients(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}
