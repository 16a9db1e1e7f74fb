import { exitCodeFor } from '../errors.js';
import { silentLogger } from '../telemetry/logger.js';
import { parseImportArguments, UsageError, usageText } from './arguments.js';
import { importExport } from './importer.js';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/** `npm run import -- <directory>`: exported files as a recorded source. Needs no running product. */
async function main(args: readonly string[]): Promise<void> {
  const options = parseImportArguments(args);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const { rows, ticks } = await importExport({ print, logger: silentLogger() }, options);
  print(`${rows.toLocaleString('en')} rows and ${ticks.toLocaleString('en')} ticks in ${options.out}.`);
  print(`Next: RECORDED_DIR=${options.out} ODDSTREAM_DATA=${options.out}-data npm start`);
}

const args = process.argv.slice(2);
if (args[0] === 'help' || args.includes('--help')) process.stdout.write(`${usageText}\n`);
else
  main(args).catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${usageText}\n`);
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : exitCodeFor(error);
  });
