import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: a browser module without types
import { languages, sampleRequest } from '../../pages/docs/browser/samples.js';
import { whyNoCurl } from '../support/curl.js';
import { type CodeBlock, codeBlocks, commandsOf, documents, readDocument } from '../support/documents.js';
import { eventually, type Product, untilLoaded } from '../support/product.js';

const run = promisify(execFile);
const RUN_MS = 120_000;

/** Commands of the documents that no test runs as they are, by their beginning, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm start': 'this file runs what it starts',
  'ODDSTREAM_DATA=data-live POLYGON_RPC_URL=': 'needs a node of the live chain',
  'npm test': 'runs this test',
  'npm run test:': 'runs tests',
  'npm run dev': 'runs the product a second time; infra/up/code-watch.test.ts tests its restarts',
  'npm run typecheck': 'a step of CI',
  'npm run lint': 'a step of CI',
  'npm run format': 'changes files; `npm run lint` is a step of CI',
  'npm run knip': 'a step of CI',
  'ODDSTREAM_FUZZ_SECONDS=': 'ten minutes; CI runs the same test for less time',
  'ODDSTREAM_HOSTILE_INPUTS=': 'ten minutes; CI runs the same test with fewer inputs',
  'ADMIN_PORT_PROCESSORS=': 'tests/faults/scale-out.test.ts runs further processors',
  'docker compose': 'needs Docker and published images; tests/deploy checks the file',
  'npm run copy-log': 'needs a second log; tests/copy-log runs it',
  'RECORDED_DIR=imported': 'needs a second product; tests/export/export.test.ts reads imported files as ingest does',
  'curl -X POST http://127.0.0.1:8080/v1/keys':
    'creates a key: one per address and day, which this file creates elsewhere',
};

/** Blocks of other languages than the shell: the test that runs them. */
const RUN_BY: Readonly<Record<string, string>> = {
  'docs/SOCKET.md json': 'tests/socket/docs.test.ts',
  'docs/SOCKET.md js': 'tests/socket/docs.test.ts',
  'docs/SOCKET.md python': 'tests/socket/docs.test.ts',
  'docs/ORDER_BOOK.md js': 'tests/socket/order-book-docs.test.ts',
  'docs/SQL.md sql': 'tests/public-views/recorded.test.ts',
  'docs/SQL.md python': 'tests/public-views/recorded.test.ts',
};
/** Blocks that are not code of a user. */
const NOT_CODE: Readonly<Record<string, string>> = {
  'docs/ORDER_BOOK.md ': 'shapes of frames; tests/order-book/socket.test.ts checks frames',
  'docs/SOCKET.md ': 'addresses',
  'ARCHITECTURE.md mermaid': 'a drawing',
  'docs/ADD_AN_ENDPOINT.md ts': 'parts of api/routes/v3/wallets/events.ts and its files, shortened',
};

/** Requests that a key may send only once in some seconds. */
const RARE = /copy-pnl|\/v2\/x|\/equity/;

const nameOf = ({ document, language }: CodeBlock): string => `${document} ${language}`;
/** Beginning of the list that a command has. */
const skipped = (command: string) => Object.keys(NOT_RUN).find((start) => command.startsWith(start));

/** Expected output as a pattern: `…` stands for any text within a line, a line of it alone for any lines. */
function outputPattern(expected: string): RegExp {
  const escaped = expected.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/^…\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}\\s*$`);
}

/** Tests that run the code of the documents and of the REST reference against a started product. */
export function describeDocuments(product: () => Product): void {
  const local = (code: string): string => {
    const { api, socket, orderbook, clickhouse, key, dataDir } = product();
    return code
      .replaceAll('http://127.0.0.1:8080', api)
      .replaceAll('ws://127.0.0.1:8081/ws', socket)
      .replaceAll('ws://127.0.0.1:8082/ws', orderbook)
      .replaceAll('http://127.0.0.1:8123', clickhouse)
      .replaceAll('data/dev-key', `${dataDir}/dev-key`)
      .replaceAll('import -- export', `import -- ${dataDir}/export`)
      .replaceAll(/--out (export|imported)/g, `--out ${dataDir}/$1`)
      .replaceAll('$KEY', key());
  };
  const env = () => {
    const { api, clickhouse, dataDir, adminPort } = product();
    const port = (url: string) => new URL(url).port;
    return {
      ...{ ...process.env, ODDSTREAM_DATA: dataDir, API_PORT: port(api), CLICKHOUSE_EMBEDDED_PORT: port(clickhouse) },
      ADMIN_PORT_PROCESSORS: String(adminPort('processors')),
    };
  };
  const shell = async (command: string): Promise<string> => {
    const { stdout } = await run('sh', ['-c', local(command)], { env: env(), timeout: RUN_MS, maxBuffer: 50_000_000 });
    return stdout.replaceAll(`${product().dataDir}/`, '');
  };
  const blocks = codeBlocks();
  /** Output that the document shows for a shell block: the `text` block after it. */
  const outputAfter = (block: CodeBlock): string | null => {
    const next = blocks[blocks.indexOf(block) + 1];
    return next?.document === block.document && next.language === 'text' ? next.code : null;
  };

  describe('documents', () => {
    // The outputs are those of the whole history.
    beforeAll(() => untilLoaded(product()), 2 * RUN_MS + 10_000);

    it('have no block of code that no test runs', () => {
      const known = { ...RUN_BY, ...NOT_CODE };
      const unknown = blocks.filter(
        (block) => !['sh', 'text'].includes(block.language) && !(nameOf(block) in known) && !isRunHere(block),
      );
      expect(unknown.map((block) => `${nameOf(block)}: line ${block.line}`)).toEqual([]);
      for (const [name, file] of Object.entries(RUN_BY)) expect([name, existsSync(file)]).toEqual([name, true]);
      const names = new Set(blocks.map(nameOf));
      for (const name of Object.keys(known)) expect([name, names.has(name)]).toEqual([name, true]);
      const commands = blocks.flatMap(({ language, code }) => (language === 'sh' ? commandsOf(code) : []));
      // An entry of the list that no document has is out of date.
      for (const start of Object.keys(NOT_RUN))
        expect([start, commands.some((command) => command.startsWith(start))]).toEqual([start, true]);
    });

    it('name scripts of the package and files that exist', () => {
      const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
      const wrong = documents
        .filter((document) => document !== 'CHANGELOG.md')
        .flatMap((document) => {
          const text = readDocument(document);
          const missing = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].filter(
            ([, name = '']) => !(name in scripts),
          );
          const folder = document.includes('/') ? document.replace(/[^/]+$/, '') : '';
          const broken = [...text.matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)/g)].filter(
            ([, path = '']) => !existsSync(folder + path),
          );
          return [...missing, ...broken].map(([found]) => `${document}: ${found}`);
        });
      expect(wrong).toEqual([]);
    });

    const isRunHere = ({ document, language }: CodeBlock) =>
      `${document} ${language}` === 'docs/SQL.md js' || `${document} ${language}` === 'docs/OPERATIONS.md sql';
    const shellBlocks = blocks.filter(({ language }) => language === 'sh');
    it.each(shellBlocks.map((block) => [`${block.document}, line ${block.line}`, block] as const))(
      'run in the shell: %s',
      async (_name, block) => {
        const commands = commandsOf(block.code).filter((command) => skipped(command) === undefined);
        if (whyNoCurl() !== null && commands.some((command) => command.includes('curl'))) return;
        const outputs: string[] = [];
        for (const command of commands) {
          if (/^\w+=\S+$/.test(command) || command.startsWith('KEY=')) continue;
          const output = await eventually(
            command,
            async () => {
              const text = await shell(command);
              return text.includes('still loading') ? false : { text };
            },
            RUN_MS,
          );
          expect(output.text, command).not.toMatch(/"error"|Exception/);
          outputs.push(output.text);
        }
        const expected = outputAfter(block);
        if (expected !== null) expect(outputs.join('')).toMatch(outputPattern(expected));
      },
      2 * RUN_MS,
    );

    it('run as JavaScript and SQL: docs/SQL.md, docs/OPERATIONS.md', async () => {
      const [javascript] = blocks.filter((block) => nameOf(block) === 'docs/SQL.md js');
      const code = `${local(javascript?.code ?? '')}\nconsole.log(rows.length); await client.close();`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { timeout: RUN_MS });
      expect(Number(stdout)).toBeGreaterThan(0);
      for (const { code: sql } of blocks.filter((block) => nameOf(block) === 'docs/OPERATIONS.md sql'))
        await product().sql(sql);
    });
  });

  describe('samples of the REST reference', () => {
    interface Sample {
      readonly operation: string;
      readonly request: { readonly method: string; readonly path: string };
      readonly sql: string | undefined;
    }
    /** Operations that only read; the others change accounts or pools. */
    const samples = async (): Promise<readonly Sample[]> => {
      const { paths } = (await product().get('/openapi.json')).body as {
        paths: Record<string, Record<string, Record<string, unknown>>>;
      };
      return Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).flatMap(([method, operation]) => {
          const request = sampleRequest(method, path, operation);
          const reads = method === 'get' || path === '/v1/sql';
          return request === null || !reads
            ? []
            : [{ operation: `${method} ${path}`, request, sql: operation['x-sql'] as string | undefined }];
        }),
      );
    };
    const code = () => ({ origin: product().api, key: product().key() });

    it.skipIf(whyNoCurl() !== null)(
      'run with curl, and return the same with JavaScript and Python',
      async () => {
        const wrong: string[] = [];
        const python: string[] = [];
        for (const { operation, request } of await samples()) {
          const command = `${languages.curl(request, code())} -w '\\n%{http_code}' -o /dev/null`;
          const status = Number((await run('sh', ['-c', command])).stdout.trim());
          // 404: the recorded input has none of it; 429: one request in five seconds or one.
          if (![200, 404, 429].includes(status)) wrong.push(`${operation}: ${status}`);
          if (status !== 200 || RARE.test(operation)) continue;
          const shown: unknown[] = [];
          await new AsyncFunction('console', languages.JavaScript(request, code()))({
            log: (text: unknown) => shown.push(text),
          });
          if (shown[0] === undefined) wrong.push(`${operation}: nothing from JavaScript`);
          python.push(languages.Python(request, code()));
        }
        expect(wrong).toEqual([]);
        expect(python.length).toBeGreaterThan(80);
        const all = `import json, sys\nfor code in json.load(sys.stdin): exec(code)`;
        const running = run('python3', ['-c', all], { maxBuffer: 50_000_000 });
        running.child.stdin?.end(JSON.stringify(python));
        expect((await running).stdout.trimEnd().split('\n')).toHaveLength(python.length);
      },
      3 * RUN_MS,
    );

    it(
      'name statements of SQL that run',
      async () => {
        for (const { operation, sql } of await samples()) {
          if (sql === undefined) continue;
          const response = await fetch(`${product().clickhouse}/?database=market`, { method: 'POST', body: sql });
          expect([operation, response.status, response.ok ? '' : await response.text()]).toEqual([operation, 200, '']);
        }
      },
      2 * RUN_MS,
    );
  });
}

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
