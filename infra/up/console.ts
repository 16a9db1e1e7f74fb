import type { Writable } from 'node:stream';

/** A progress report as processes log it: `{"progress":{source,done,total,unit,perSecond}}`. */
export interface Progress {
  readonly source: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: string;
  readonly perSecond?: number;
}

const LEVEL_MARK: Readonly<Record<string, string>> = { warn: 'warn ', error: 'ERROR', fatal: 'FATAL' };
/** `config` is the same in every process; the supervisor prints a summary of it. */
const HIDDEN_FIELDS = new Set(['level', 'time', 'process', 'msg', 'progress', 'err', 'config']);
const BAR_WIDTH = 28;

/** `[██████░░░░]  61 %  152,400 / 250,000 blocks  31,200/s` */
export function progressBar(progress: Progress): string {
  const count = (value: number) => Math.round(value).toLocaleString('en-US');
  const rate = progress.perSecond === undefined ? '' : `  ${count(progress.perSecond)}/s`;
  if (progress.total === null || progress.total <= 0) return `${count(progress.done)} ${progress.unit}${rate}`;
  const share = Math.min(1, progress.done / progress.total);
  const full = Math.round(share * BAR_WIDTH);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${count(progress.done)} / ${count(progress.total)} ${progress.unit}${rate}`;
}

/** Formats a JSON log line of a process for the terminal; null when the line is not one (plain text). */
export function formatLogLine(line: string): { readonly text: string; readonly progress: Progress | null } | null {
  if (!line.startsWith('{')) return null;
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof entry.level !== 'string') return null;
  const progress = (entry.progress as Progress | undefined) ?? null;
  const fields = Object.entries(entry)
    .filter(([key]) => !HIDDEN_FIELDS.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const error = entry.err as { message?: string; stack?: string } | undefined;
  const serious = entry.level === 'error' || entry.level === 'fatal';
  if (!serious && error?.message !== undefined) fields.push(`reason=${error.message}`);
  const time = typeof entry.time === 'string' ? entry.time.slice(11, 19) : '';
  const parts = [time, LEVEL_MARK[entry.level] ?? '', String(entry.msg ?? ''), ...fields].filter((part) => part !== '');
  const stack = serious && error?.stack !== undefined && error.stack !== '' ? `\n${error.stack}` : '';
  return { text: parts.join(' ') + stack, progress };
}

export interface Console {
  /** Prints a line of a process, prefixed with its name. */
  printProcessLine(name: string, line: string): void;
  /** Prints a line of the supervisor. */
  print(text: string): void;
}

/**
 * Prints lines prefixed with process names; progress reports become one bar per source that stays at the bottom of a terminal, or a line every
 * ten percent where the output is not a terminal.
 */
export function createConsole(
  out: Writable & { isTTY?: boolean; columns?: number },
  names: readonly string[],
): Console {
  const width = Math.max(...names.map((name) => name.length));
  const bars = new Map<string, Progress>();
  const printedTenths = new Map<string, number>();
  let drawn = 0;

  const clear = () => {
    if (drawn > 0) out.write(`\x1b[${drawn}A\x1b[0J`);
    drawn = 0;
  };
  const draw = () => {
    for (const bar of bars.values()) {
      out.write(`${`  ${bar.source.padEnd(8)} ${progressBar(bar)}`.slice(0, (out.columns ?? 120) - 1)}\n`);
      drawn++;
    }
  };
  const print = (text: string) => {
    if (out.isTTY === true) clear();
    out.write(`${text}\n`);
    if (out.isTTY === true) draw();
  };
  const onProgress = (name: string, progress: Progress) => {
    const finished = progress.total !== null && progress.done >= progress.total;
    if (out.isTTY === true) {
      clear();
      if (finished) {
        if (bars.delete(progress.source)) out.write(`  ${progress.source.padEnd(8)} ${progressBar(progress)}\n`);
      } else bars.set(progress.source, progress);
      draw();
      return;
    }
    const tenth = progress.total === null ? -1 : Math.floor((progress.done / Math.max(1, progress.total)) * 10);
    if (printedTenths.get(progress.source) === tenth) return;
    printedTenths.set(progress.source, tenth);
    out.write(`${name.padEnd(width)} | ${progress.source} ${progressBar(progress)}\n`);
  };

  return {
    printProcessLine(name, line) {
      const formatted = formatLogLine(line);
      if (formatted?.progress) onProgress(name, formatted.progress);
      else for (const part of (formatted?.text ?? line).split('\n')) print(`${name.padEnd(width)} | ${part}`);
    },
    print: print,
  };
}
