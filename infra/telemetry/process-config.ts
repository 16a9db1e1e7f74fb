import { type Config, loadConfig } from '../config/config.js';
import { EXIT_FATAL, FatalError } from '../errors.js';
import { createLogger } from './logger.js';

/** The configuration of a long-running process. A bad one is logged with the variable's name, and ends the process with exit code 78. */
export function processConfig(name: string): Config {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof FatalError)) throw error;
    createLogger({ process: name, level: 'fatal' }).fatal({ code: EXIT_FATAL }, error.message);
    process.exit(EXIT_FATAL);
  }
}
