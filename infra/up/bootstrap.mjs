// Entry point of all commands, without dependencies: installs packages from the lock file and builds when either is stale, then runs the command.
//   node infra/up/bootstrap.mjs start | dev | test [vitest args] | build | bench [name] | soak [options] | run <process>
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const layers = ['schemas', 'infra', 'ingest', 'processors', 'pages', 'api', 'stream-gateway', 'tests'];
export const nodeFlags = ['--enable-source-maps', '--disable-warning=ExperimentalWarning'];
const entries = {
  clickhouse: 'dist/infra/clickhouse/main.js',
  ingest: 'dist/ingest/main.js',
  processors: 'dist/processors/main.js',
  rebuild: 'dist/processors/rebuild/main.js',
  api: 'dist/api/main.js',
  'stream-gateway': 'dist/stream-gateway/main.js',
  kafka: 'dist/infra/kafka/main.js',
  admin: 'dist/infra/admin/main.js',
  sizes: 'dist/infra/sizes/main.js',
  'copy-log': 'dist/infra/copy-log/main.js',
  export: 'dist/infra/export/main.js',
  import: 'dist/infra/import/main.js',
};

/** Writes build info, so that `dev` after a build compiles only changed files. */
const compile = [
  'node_modules/typescript/bin/tsc',
  '-p',
  '.',
  '--incremental',
  '--tsBuildInfoFile',
  'dist/.tsbuildinfo',
];

const print = (text) => process.stderr.write(`${text}\n`);

/** `uWebSockets.js` has no binary for 23 and for versions after 25. */
function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if ([21, 22, 24, 25].includes(major) || (major === 20 && minor >= 19)) return;
  print(`Oddstream needs Node 20.19 or later, 22, 24 or 25; this is ${process.versions.node}.`);
  process.exit(1);
}

function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}

/** Runs a command behind a line with the elapsed time; prints its output only when it fails. */
async function withProgress(label, command, args, options = {}) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const tty = process.stderr.isTTY;
  if (!tty) print(`${label} ...`);
  const output = [];
  const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
  let frame = 0;
  const timer = setInterval(
    () => {
      if (tty) process.stderr.write(`\r${frames[frame++ % frames.length]} ${label} ${seconds()} `);
      else print(`  still running, ${seconds()}`);
    },
    tty ? 120 : 15_000,
  );
  const code = await new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (exit) => resolve(exit ?? 1));
  }).finally(() => clearInterval(timer));
  if (tty) process.stderr.write('\r\x1b[2K');
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output));
    print(`${label}: failed (exit ${code})`);
    process.exit(1);
  }
  print(`✓ ${label} (${seconds()})`);
}

const stampIs = (file, value) => existsSync(file) && readFileSync(file, 'utf8') === value;
const lockHash = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
const installStamp = join(root, 'node_modules', '.oddstream-lock');
/** Content of the stamp of an installation without the packages that only builds and tests need. */
const runtimeOnly = () => `${lockHash()} runtime`;

function sourceHash() {
  const hash = createHash('sha256');
  const visit = (path) => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const child = `${path}/${entry.name}`;
      // The compiler reads no hidden folders; tests write temporary files there.
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) {
        if (child !== 'tests/recorded') visit(child);
      } else if (/\.(ts|json)$/.test(entry.name)) {
        hash
          .update(child)
          .update('\0')
          .update(readFileSync(join(root, child)))
          .update('\0');
      }
    }
  };
  for (const layer of layers) visit(layer);
  return hash
    .update(readFileSync(join(root, 'tsconfig.json')))
    .update(lockHash())
    .digest('hex');
}

/** Runs `work` under the lock file .bootstrap.lock, so that two commands started together do not overwrite each other's installation or build. */
async function withBootstrapLock(work) {
  const file = join(root, '.bootstrap.lock');
  for (let waited = false; ; ) {
    try {
      const handle = openSync(file, 'wx');
      writeSync(handle, `${process.pid} ${startOf(process.pid)}`);
      closeSync(handle);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const [owner, start] = (existsSync(file) ? readFileSync(file, 'utf8') : '').split(' ');
      const alive = Number(owner) > 0 && isAlive(Number(owner)) && startOf(owner) === start;
      if (!alive && existsSync(file) && Date.now() - statSync(file).mtimeMs > 1000) rmSync(file, { force: true });
      else if (!waited) {
        print(`Waiting for another Oddstream command (pid ${owner}) to finish installing or building`);
        waited = true;
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

/** Start of a process in clock ticks after that of the machine, which tells it from an earlier one with its pid; empty where there is no /proc. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces; the start is the 22nd field.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '';
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Installs the packages of the lock file. `all`: with those that only builds and tests need. They are added to an installation without them, whose
 * processes may be running, so its files stay.
 */
async function install({ all }) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const isExtension = all && stampIs(installStamp, runtimeOnly());
  const label = isExtension
    ? 'Installing packages for builds and tests (once; about 250 MB)'
    : `Installing packages (once; about ${all ? '1.4' : '1.1'} GB, most of it the ClickHouse engine)`;
  await withProgress(label, npm, [
    ...(isExtension ? ['install', '--no-save'] : ['ci']),
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    all ? '--include=dev' : '--omit=dev',
    '--include=optional',
  ]);
  writeFileSync(installStamp, all ? lockHash() : runtimeOnly());
}

/**
 * `checkTypes`: false compiles without, a third of the time. The compiled code is the same: every file is compiled for itself (`isolatedModules`).
 * `allPackages`: also those that only builds and tests need.
 */
async function prepare({ checkTypes, allPackages }) {
  requireNode();
  const buildStamp = join(root, 'dist', '.oddstream-sources');
  const isInstalled = () => stampIs(installStamp, lockHash()) || (!allPackages && stampIs(installStamp, runtimeOnly()));
  const isBuilt = (sources) =>
    stampIs(buildStamp, sources) || (!checkTypes && stampIs(buildStamp, `${sources} unchecked`));
  if (isInstalled() && isBuilt(sourceHash())) return;
  await withBootstrapLock(async () => {
    if (!isInstalled()) await install({ all: allPackages });
    const sources = sourceHash();
    if (!isBuilt(sources)) {
      rmSync(join(root, 'dist'), { recursive: true, force: true });
      await withProgress('Building', process.execPath, checkTypes ? compile : [...compile, '--noCheck']);
      mkdirSync(join(root, 'dist'), { recursive: true });
      writeFileSync(buildStamp, checkTypes ? sources : `${sources} unchecked`);
    }
  });
}

/** Runs Node with `args`, forwards SIGTERM and SIGHUP to it, and exits with its exit code. The terminal itself sends Ctrl-C to the child. */
async function runInForeground(args, env = {}) {
  const child = spawn(process.execPath, [...nodeFlags, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGTERM'));
  process.on('SIGINT', () => undefined);
  const code = await new Promise((resolve) =>
    child.once('exit', (exit, signal) => resolve(signal === null ? exit : 1)),
  );
  process.exit(code ?? 1);
}

/** Compiles saved files and runs the product with `--restart-changed`, which restarts the processes that import a compiled file. */
async function develop(args) {
  const compiler = spawn(process.execPath, [...compile, '--watch', '--preserveWatchOutput'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // A separate process group: tsc is a launcher, and a signal to it does not reach the compiler.
    detached: true,
  });
  process.once('exit', () => {
    try {
      process.kill(-compiler.pid, 'SIGTERM');
    } catch {
      // It has already ended.
    }
  });
  await runInForeground(['dist/infra/up/main.js', '--restart-changed', ...args]);
}

// As an empty value it would be one thread for libuv.
if (process.env.UV_THREADPOOL_SIZE === '') delete process.env.UV_THREADPOOL_SIZE;
const [command = 'start', ...rest] = process.argv.slice(2);
await prepare({
  checkTypes: ['build', 'dev', 'test'].includes(command),
  allPackages: !['start', 'run'].includes(command),
});
if (command === 'build') process.exit(0);
else if (command === 'start') await runInForeground(['dist/infra/up/main.js', ...rest]);
else if (command === 'dev') await develop(rest);
else if (command === 'bench') await runInForeground(['dist/tests/bench/main.js', ...rest]);
else if (command === 'soak') await runInForeground(['dist/tests/soak/main.js', ...rest]);
else if (command === 'run' && entries[rest[0]] !== undefined) {
  await runInForeground(
    [entries[rest[0]], ...rest.slice(1)],
    rest[0] === 'clickhouse' ? { UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE ?? '16' } : {},
  );
} else if (command === 'test') {
  const node = [process.execPath, ...nodeFlags];
  const checks = [
    ['Schemas', ['schemas/tools/generate.mjs', '--check']],
    ['Unused files, exports and packages', ['node_modules/knip/bin/knip.js', '--no-progress']],
    ['Lint and import direction', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
  ];
  for (const [label, args] of checks) await withProgress(label, node[0], args);
  process.exit(await run(node[0], ['node_modules/vitest/vitest.mjs', 'run', ...rest]));
} else {
  print(
    `Unknown command: ${[command, ...rest].join(' ')}\nKnown: start, dev, test, build, bench, soak, run <${Object.keys(entries).join(' | ')}>`,
  );
  process.exit(1);
}
