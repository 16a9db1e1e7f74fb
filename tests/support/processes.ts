import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Lists processes without ps, which small Linux images lack. */
const listProcessesFromProc = (): ProcessInfo[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of a program may contain any characters, including brackets.
      const state = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '');
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ');
      return [{ pid: Number(name), parent: Number(state.split(' ')[1]), command }];
    } catch {
      return []; // it has ended
    }
  });

const listProcessesFromPs = (): ProcessInfo[] =>
  execFileSync('ps', ['-axo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

/** Pid of the child of `parent` whose command contains a text; null if there is none. */
export function childOf(parent: number, commandText: string): number | null {
  const running = process.platform === 'linux' ? listProcessesFromProc() : listProcessesFromPs();
  return running.find((one) => one.parent === parent && one.command.includes(commandText))?.pid ?? null;
}
