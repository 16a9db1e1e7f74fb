import { exitCodeFor } from './errors.js';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/** Wrong arguments of a command, or input that it cannot use; the message says what is possible. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * Runs a command with the arguments of this process: `help` and `--help` print the usage; an error is printed without its stack, a UsageError with the
 * usage and exit code 64. `codeOf`: exit code of the command's own errors; undefined for all others.
 */
export function runCommandLine(command: {
  readonly usageText: string;
  readonly main: (args: readonly string[]) => Promise<void>;
  readonly codeOf?: (error: unknown) => number | undefined;
}): void {
  const args = process.argv.slice(2);
  if (args[0] === 'help' || args.includes('--help')) {
    process.stdout.write(`${command.usageText}\n`);
    return;
  }
  command.main(args).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    const isUsage = error instanceof UsageError;
    if (isUsage) process.stderr.write(`\n${command.usageText}\n`);
    process.exitCode = isUsage ? EXIT_USAGE : (command.codeOf?.(error) ?? exitCodeFor(error));
  });
}
