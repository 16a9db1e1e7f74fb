import { spawn } from 'node:child_process';

/** Run a command to its end. Exit code null: it could not be started, or a signal ended it. */
export function runCommand(
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const output: Buffer[] = [];
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output: Buffer.concat(output).toString('utf8') }));
  });
}
