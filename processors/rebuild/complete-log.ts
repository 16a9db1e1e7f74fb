import { FatalError } from '../../infra/errors.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log } from '../../infra/log/port.js';
import type { RebuildTask } from './rebuild-tasks.js';

/** Throws FatalError if a topic of the tasks no longer has its first record: rebuilt tables would lack rows. Compacted topics have every key's newest record. */
export async function requireCompleteLog(
  log: Pick<Log, 'partitions' | 'bounds'>,
  tasks: readonly RebuildTask[],
): Promise<void> {
  const incomplete = new Set<string>();
  for (const { definition } of tasks) {
    const { name, compacted } = definition.topic;
    for (const partition of compacted ? [] : await partitionsOf(log, { name })) {
      const { earliest, next } = await log.bounds(name, partition);
      if (earliest > 0 && next > earliest) incomplete.add(name);
    }
  }
  if (incomplete.size === 0) return;
  const tables = tasks
    .filter(({ definition }) => !incomplete.has(definition.topic.name))
    .flatMap((task) => task.tables.map(({ name }) => name));
  throw new FatalError(
    `The oldest records of ${[...incomplete].join(', ')} were deleted (RAW_HISTORY_DAYS), so rebuilt tables would lack their rows; the live tables are unchanged.${
      tables.length === 0 ? '' : ` These can be rebuilt one by one: ${tables.join(', ')}`
    }`,
  );
}
