import { runCommandLine } from '../command-line.js';
import { silentLogger } from '../telemetry/logger.js';
import { parseImportArguments, usageText } from './arguments.js';
import { importExport } from './importer.js';

/** `npm run import -- <directory>`: exported files as a recorded source. Needs no running product. */
async function main(args: readonly string[]): Promise<void> {
  const options = parseImportArguments(args);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const { rows, ticks, unknown } = await importExport({ print, logger: silentLogger() }, options);
  print(`${rows.toLocaleString('en')} rows and ${ticks.toLocaleString('en')} ticks in ${options.out}.`);
  if (unknown > 0)
    print(
      `Note: the files do not say whether ${unknown.toLocaleString('en')} of the markets ${unknown === 1 ? 'is' : 'are'} neg-risk: the catalogue does not list them, and their splits, merges and redemptions have the tokens of markets that are not. Export redemptions and splits_merges again once the catalogue of that product lists them.`,
    );
  print(`Next: RECORDED_DIR=${options.out} ODDSTREAM_DATA=${options.out}-data npm start`);
}

runCommandLine({ usageText, main });
