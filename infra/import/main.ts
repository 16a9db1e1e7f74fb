import { runCommandLine } from '../command-line.js';
import { silentLogger } from '../telemetry/logger.js';
import { parseImportArguments, usageText } from './arguments.js';
import { importExport } from './importer.js';

/** `npm run import -- <directory>`: exported files as a recorded source. Needs no running product. */
async function main(args: readonly string[]): Promise<void> {
  const options = parseImportArguments(args);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const { rows, ticks } = await importExport({ print, logger: silentLogger() }, options);
  print(`${rows.toLocaleString('en')} rows and ${ticks.toLocaleString('en')} ticks in ${options.out}.`);
  print(`Next: RECORDED_DIR=${options.out} ODDSTREAM_DATA=${options.out}-data npm start`);
}

runCommandLine({ usageText, main });
