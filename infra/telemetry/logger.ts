import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly process: string;
  readonly level: string;
}

/**
 * JSON lines on stdout. The supervisor reads them and prints them for people. Each line is written before the call returns: buffered lines
 * would be flushed at exit, and that flush retries for ever when the reader of stdout has exited.
 */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level,
      base: { process: options.process },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['*.password', '*.apiKey', '*.authorization'], censor: '[redacted]' },
    },
    pino.destination({ dest: 1, sync: true }),
  );
}

/** A logger that drops everything, for unit tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
