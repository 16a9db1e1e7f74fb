import { exitCodeFor } from '../errors.js';
import { setPrivateUmask } from '../files/private-files.js';
import type { Logger } from './logger.js';

/** What a wait that the signal ended throws. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/**
 * Frame of every long-running process: keeps its files private, runs `main` until it ends, a signal comes or it fails, then maps the end to an
 * exit code (0 stopped as asked, 78 when only a person can mend it, 75 anything else). SIGINT and SIGTERM abort `signal`; `main` drains and
 * returns. A second signal, or a drain longer than `drainMs`, ends the process at once with code 1.
 */
export function runProcess(options: {
  logger: Logger;
  drainMs?: number;
  main: (signal: AbortSignal) => Promise<void>;
}): void {
  setPrivateUmask();
  const { logger } = options;
  const controller = new AbortController();
  const stop = (name: string) => {
    if (controller.signal.aborted) {
      if (name === 'supervisor gone') return;
      process.exit(1);
    }
    logger.info({ signal: name }, 'stopping');
    controller.abort();
    setTimeout(() => {
      logger.error('did not drain in time');
      process.exit(1);
    }, options.drainMs ?? 4000).unref();
  };
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGTERM', () => stop('SIGTERM'));
  const fail = (error: unknown) => {
    if (controller.signal.aborted && isAbort(error, controller.signal)) {
      logger.info('stopped');
      process.exit(0);
    }
    const code = exitCodeFor(error);
    logger.fatal({ err: error, code }, error instanceof Error ? error.message : String(error));
    process.exit(code);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // Started by the supervisor (with a channel to it): one that is gone must not leave its processes behind, holding ports and locks.
  process.on('disconnect', () => stop('supervisor gone'));
  // `connected` is undefined without a channel, false when the supervisor went before this line.
  if (process.connected === false) stop('supervisor gone');
  options.main(controller.signal).then(() => {
    logger.info('stopped');
    process.exit(0);
  }, fail);
}
