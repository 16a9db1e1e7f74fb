import { userInfo } from 'node:os';
import { createAccountCommands } from '../accounts/commands.js';
import { createLedgerView } from '../accounts/ledger-view.js';
import { type AccountsReadModel, createAccountsReadModel } from '../accounts/read-model.js';
import { runCommandLine } from '../command-line.js';
import { loadConfig } from '../config/config.js';
import { setPrivateUmask } from '../files/private-files.js';
import { openEventLog } from '../registry/open-event-log.js';
import { createLogger } from '../telemetry/logger.js';
import { createMetrics } from '../telemetry/metrics.js';
import { createOnUnreadable } from '../telemetry/unreadable-records.js';
import { parseArguments, usageText } from './arguments.js';
import { createAccountDirectory, NotFoundError } from './directory.js';
import { RejectedError, runCommand } from './run-command.js';

const EXIT_REJECTED = 1;

/** `npm run admin -- <command>`: accounts from the command line, while the product runs. */
async function main(args: readonly string[]): Promise<void> {
  const command = parseArguments(args);
  setPrivateUmask();
  const config = loadConfig();
  const logger = createLogger({ process: 'admin', level: 'warn' });
  const metrics = createMetrics({ process: 'admin', defaults: false });
  const controller = new AbortController();
  const { signal } = controller;
  const { log, codec } = await openEventLog(config, { logger, metrics, signal, maintenance: false });
  const ledger = createLedgerView();
  const directory = createAccountDirectory((): AccountsReadModel => accounts);
  const accounts = createAccountsReadModel({
    log,
    codec,
    signal,
    onUnreadable: createOnUnreadable({ metrics, logger }),
    onState: (entity, state) => {
      ledger.apply(entity, state);
      directory.apply(entity, state);
    },
  });
  try {
    await accounts.ready();
    await runCommand(command, {
      accounts,
      directory,
      ledger,
      send: createAccountCommands({ log, codec }).send,
      author: `operator:${userInfo().username}`,
      publicUrl: config.publicUrl,
      nowMs: Date.now,
      print: (line) => process.stdout.write(`${line}\n`),
    });
  } finally {
    controller.abort();
    await log.close();
  }
}

const isRejected = (error: unknown) => error instanceof NotFoundError || error instanceof RejectedError;
runCommandLine({ usageText, main, codeOf: (error) => (isRejected(error) ? EXIT_REJECTED : undefined) });
