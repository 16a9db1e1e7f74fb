import type { Log } from '../infra/log/port.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import type { Codec } from '../schemas/codec.js';
import { createAccountsProcessor } from './accounts/processor.js';
import type { Task } from './assignment/task-runner.js';
import { statefulCheck } from './readiness.js';
import { createStreamProcessor } from './stream/processor.js';

/** The tasks of the group `stream`. */
export function createStreamTasks(deps: { log: Log; codec: Codec; logger: Logger; metrics: Metrics }): readonly Task[] {
  const task = (name: string, open: typeof createStreamProcessor | typeof createAccountsProcessor): Task => ({
    name,
    create: () => {
      const processor = open(deps);
      return { run: processor.run, check: async () => statefulCheck(await processor.state()) };
    },
  });
  return [task('accounts', createAccountsProcessor), task('stream', createStreamProcessor)];
}
