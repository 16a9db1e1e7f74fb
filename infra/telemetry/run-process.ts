import { exitCodeFor, FatalError } from '../errors.js';
import { setPrivateUmask } from '../files/private-files.js';
import type { Logger } from './logger.js';

/** Whether the error was thrown by a wait that the signal ended. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/**
 * Entry function of every long-running process: sets a private umask, runs `main` until it ends, fails or a signal arrives, then maps the result to an
 * exit code (0 stopped on request, 78 when an operator must fix it, 75 anything else). SIGINT and SIGTERM abort `signal`; `main` drains and
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
      if (name === 'supervisor ended') return;
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
    const message = error instanceof Error ? error.message : String(error);
    // The message of a FatalError says what to do; its stack is logged at debug level.
    if (error instanceof FatalError) {
      logger.debug({ err: error }, 'stack of the fatal error');
      logger.fatal({ code }, message);
    } else logger.fatal({ err: error, code }, message);
    process.exit(code);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // With an IPC channel to the supervisor: when the supervisor exits, its processes must exit too, or they would keep ports and locks.
  process.on('disconnect', () => stop('supervisor ended'));
  // `connected` is undefined without a channel, false when the supervisor has already exited.
  if (process.connected === false) stop('supervisor ended');
  options.main(controller.signal).then(() => {
    logger.info('stopped');
    process.exit(0);
  }, fail);
}
