import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { READABLE_SYSTEM_TABLES } from '../../infra/clickhouse/embedded/analyst-rules.js';
import { environmentVariables, loadConfig } from '../../infra/config/config.js';
import { hostRejection } from '../../infra/http/request-guard.js';
import { startAdminServer } from '../../infra/telemetry/admin-server.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const deploy = join(root, 'infra', 'deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');
const filesUnder = (directory: string, ending: RegExp): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

const compose = read('compose.yaml');
const manifests = filesUnder(join(deploy, 'kubernetes'), /\.yaml$/).map((file) => readFileSync(file, 'utf8'));
const dockerfile = read('Dockerfile');

/** The text of one top-level entry of compose.yaml, or of one service. */
function block(name: string, indent: string): string {
  const lines = compose.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`${indent}${name}:`));
  const end = lines.findIndex((line, i) => i > start && new RegExp(`^ {0,${indent.length}}\\S`).test(line));
  return lines.slice(start, end === -1 ? undefined : end).join('\n');
}

const services = ['ingest', 'processors', 'api', 'stream-gateway'] as const;
const settings = (text: string) =>
  new Map(
    [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): (.*)$/gm)].map(([, name, value]) => [name as string, value as string]),
  );

describe('settings', () => {
  it('of the compose file are read by the processes', () => {
    const known = new Set(environmentVariables);
    for (const text of [
      block('x-environment', ''),
      block('x-reader', ''),
      ...services.map((name) => block(name, '  ')),
    ])
      for (const name of settings(text).keys()) expect(known, name).toContain(name);
  });

  it('of the manifests and the image are read by the processes', () => {
    const known = new Set([...environmentVariables, 'NODE_ENV']);
    const named = [
      ...manifests.flatMap((text) => [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)].map((match) => match[1] as string)),
      ...manifests.flatMap((text) =>
        [...text.matchAll(/name: ([A-Z][A-Z0-9_]+), value/g)].map((match) => match[1] as string),
      ),
      ...[...dockerfile.matchAll(/(?:ENV |^ {4})([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1] as string),
    ];
    expect(named.length).toBeGreaterThan(15);
    for (const name of named) expect(known, name).toContain(name);
  });

  /** Configuration of a service of the compose file with these variables of .env. */
  const configOf = (name: string, variables: Record<string, string> = {}) => {
    const given = new Map([
      ...settings(block('x-environment', '')),
      ...settings(block('x-reader', '')),
      ...settings(block(name, '  ')),
    ]);
    const filled = [...given].map(([key, value]) => [
      key,
      value.replace(
        /\$\{(\w+)(:?[-?])([^}]*)\}/,
        (_, variable, how, text) => variables[variable] ?? (how === ':-' ? text : 'a secret of some length'),
      ),
    ]);
    return loadConfig(Object.fromEntries(filled));
  };

  it('result in a configuration that the processes accept', () => {
    for (const name of services) {
      const config = configOf(name);
      expect(config.host).toBe('0.0.0.0');
      expect(config.logUrl).toBe('kafka://kafka:9092');
    }
  });

  it('of the raw history reach processors; empty, all of it is kept', () => {
    expect(configOf('processors').rawHistoryDays).toBeNull();
    expect(configOf('processors', { RAW_HISTORY_DAYS: '90' }).rawHistoryDays).toBe(90);
  });

  it('of sign-in, payments, social posts and the live chain reach the api and are in example.env', () => {
    const isOfApi = (name: string) =>
      /^(SMTP|MAIL|OIDC|BILLING|STRIPE|SOCIAL|USAGE)_|^POLYGON_RPC_URL$/.test(name) &&
      !/_FILE$|_BASE$|_API_URL$/.test(name);
    const names = [...environmentVariables].filter(isOfApi);
    expect(names.length).toBeGreaterThan(11);
    const given = new Map([...settings(block('x-environment', '')), ...settings(block('api', '  '))]);
    for (const name of names) {
      expect(given.get(name), name).toBe(`\${${name}:-}`);
      expect(read('example.env')).toMatch(new RegExp(`^${name}=$`, 'm'));
    }
    const mail = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'a@b.example' };
    const PUBLIC_URL = 'https://api.example';
    const live = configOf('api', { POLYGON_RPC_URL: 'https://node.example', PUBLIC_URL, ...mail });
    expect(live.sources.mode).toBe('live');
    expect(live.signIn.mail?.smtpUrl).toBe('smtp://mail.example');
    expect(live.publicUrl).toBe(PUBLIC_URL);
    expect(live.billing).toBeNull();
    // Links in mails would point to the reader's own machine.
    expect(() => configOf('api', mail)).toThrow(/PUBLIC_URL: missing/);
  });

  it('of a proxy in front reach the api and the sockets, which allow its names', () => {
    const variables = {
      PUBLIC_URL: 'https://api.example.com',
      EVENT_SOCKET_URL: 'wss://events.example.com/ws',
      ORDERBOOK_SOCKET_URL: 'wss://books.example.com/ws',
    };
    for (const name of ['api', 'stream-gateway'])
      expect(configOf(name, variables).allowedHosts, name).toEqual(
        expect.arrayContaining(['api.example.com', 'events.example.com', 'books.example.com']),
      );
    expect(configOf('api', variables).eventSocketUrl).toBe(variables.EVENT_SOCKET_URL);
    for (const name of Object.keys(variables)) expect(read('example.env')).toMatch(new RegExp(`^${name}=$`, 'm'));
  });
});

describe('the compose file of a cluster', () => {
  const cluster = parse(read('clickhouse/cluster/compose.yaml'), { merge: true }) as {
    services: Record<string, { image?: string; environment: Record<string, unknown>; volumes: string[] }>;
  };
  const named = (file: string, tag: string) =>
    [...read(`clickhouse/cluster/${file}`).matchAll(new RegExp(`<${tag}>([^<]+)</${tag}>`, 'g'))].map(
      (match) => match[1] as string,
    );
  const ofPrefix = (prefix: string) => Object.keys(cluster.services).filter((name) => name.startsWith(prefix));

  it('starts the nodes and Keepers that cluster.xml and keeper.xml name, each with its number', () => {
    const nodes = ofPrefix('clickhouse').map((name) => {
      const { ODDSTREAM_SHARD, ODDSTREAM_REPLICA } = cluster.services[name]?.environment ?? {};
      // The first node is the service of compose.yaml, with a further name.
      expect([`clickhouse-${ODDSTREAM_SHARD}-${ODDSTREAM_REPLICA}`, 'clickhouse']).toContain(name);
      return `clickhouse-${ODDSTREAM_SHARD}-${ODDSTREAM_REPLICA}`;
    });
    const keepers = ofPrefix('keeper').map((name) => {
      expect(name).toBe(`keeper-${cluster.services[name]?.environment.KEEPER_ID}`);
      return name;
    });
    expect(named('cluster.xml', 'host').sort()).toEqual([...nodes, ...keepers].sort());
    expect(named('keeper.xml', 'hostname')).toEqual(keepers);
  });

  it('gives every process the name of the cluster, and uses the same server as compose.yaml, and files that exist', () => {
    for (const name of services)
      expect(cluster.services[name]?.environment).toEqual({ CLICKHOUSE_CLUSTER: 'oddstream' });
    expect(read('clickhouse/cluster/cluster.xml')).toContain('<oddstream>');
    const serverImage = /image: (.*CLICKHOUSE_IMAGE.*)$/m.exec(compose)?.[1];
    for (const name of ofPrefix('clickhouse-')) expect(cluster.services[name]?.image).toBe(serverImage);
    for (const { volumes = [] } of Object.values(cluster.services))
      for (const volume of volumes.filter((text) => text.startsWith('./')))
        expect(existsSync(join(deploy, volume.split(':')[0] as string)), volume).toBe(true);
  });
});

describe('ports', () => {
  const { ports } = loadConfig({});
  const admin = {
    ingest: ports.admin.ingest,
    processors: ports.admin.processors,
    api: ports.admin.api,
    'stream-gateway': ports.admin.gateway,
  };

  it.each(services)('of %s are the same in compose file, manifests, image and Prometheus', (name) => {
    const service = block(name, '  ');
    expect(service).toContain(`healthcheck.mjs, "${admin[name]}"`);
    expect(read('prometheus/prometheus.yml')).toContain(`${name}:${admin[name]}`);
    expect(read(`kubernetes/${name}.yaml`)).toContain(`name: admin, containerPort: ${admin[name]}`);
    expect(dockerfile).toMatch(new RegExp(`EXPOSE .*\\b${admin[name]}\\b`));
  });

  it('that users reach are published', () => {
    const published = (port: number) => new RegExp(`"\\$\\{[A-Z]+_HOST_PORT:-${port}\\}:${port}"`);
    expect(block('api', '  ')).toMatch(published(ports.api));
    expect(block('stream-gateway', '  ')).toMatch(published(ports.gateway));
    expect(block('stream-gateway', '  ')).toMatch(published(ports.orderbook));
    for (const port of [ports.api, ports.gateway, ports.orderbook])
      expect(dockerfile).toMatch(new RegExp(`EXPOSE .*\\b${port}\\b`));
  });
});

describe('restarts', () => {
  it('follow every exit, including exit code 0, in the compose file', () => {
    expect(block('x-service', '')).toMatch(/^ {2}restart: unless-stopped$/m);
    for (const name of services) expect(block(name, '  ')).toContain('<<: *service');
    expect(
      [...compose.matchAll(/restart: (\S+)/g)].map((match) => match[1]).every((how) => how === 'unless-stopped'),
    ).toBe(true);
  });

  it('follow every exit on Kubernetes, whose default is Always', () => {
    for (const text of manifests) expect(text).not.toMatch(/restartPolicy: (?!Always)/);
    for (const name of services) {
      const text = read(`kubernetes/${name}.yaml`);
      expect(text).toMatch(/kind: (Deployment|StatefulSet)/);
      expect(text).toContain('livenessProbe');
    }
  });
});

describe('host names and admin ports', () => {
  const composeHosts =
    block('x-environment', '')
      .match(/ALLOWED_HOSTS: (\S+)/)?.[1]
      ?.split(',') ?? [];
  const config = read('kubernetes/config.yaml');
  const podHosts = config.match(/^ +ALLOWED_HOSTS: (\S+)$/m)?.[1]?.split(',') ?? [];

  it('that Prometheus scrapes by are allowed in Host', () => {
    const scraped = [...read('prometheus/prometheus.yml').matchAll(/([\w-]+):910\d/g)].map(
      (match) => match[1] as string,
    );
    expect(scraped).toHaveLength(services.length);
    for (const host of scraped)
      expect(hostRejection({ host: `${host}:9101`, origin: undefined, secFetchSite: undefined }, composeHosts)).toBe(
        undefined,
      );
  });

  it('of the Services are allowed in Host', () => {
    const named = manifests.flatMap((text) =>
      [...text.matchAll(/kind: Service\nmetadata: \{ name: ([\w-]+) \}/g)].map((match) => match[1] as string),
    );
    expect(named.sort()).toEqual(['api', 'stream-gateway']);
    for (const name of named)
      for (const suffix of ['', '.oddstream', '.oddstream.svc', '.oddstream.svc.cluster.local'])
        expect(podHosts).toContain(`${name}${suffix}`);
  });

  it('admit only the monitoring namespace to admin ports, and all clients to public ports', () => {
    const policies = read('kubernetes/network-policy.yaml')
      .split(/^---$/m)
      .map((text) => text.replace(/^ *#.*\n/gm, ''));
    const rules = policies.map((text) => ({
      pods: text.match(/values: \[(.*)\]/)?.[1]?.split(', ') ?? [text.match(/matchLabels: \{ app: ([\w-]+) \}/)?.[1]],
      from: text.includes('from:') ? text.match(/metadata\.name: (\w+)/)?.[1] : 'all clients',
      ports: [...text.matchAll(/port: (\S+) \}/g)].map((match) => match[1]),
    }));
    expect(rules).toEqual([
      { pods: [...services], from: 'monitoring', ports: ['admin'] },
      { pods: ['api'], from: 'all clients', ports: ['http'] },
      { pods: ['stream-gateway'], from: 'all clients', ports: ['ws', 'books'] },
    ]);
    // A pod that no policy selects accepts all connections.
    const deployed = manifests.flatMap((text) =>
      [...text.matchAll(/kind: Deployment\nmetadata: \{ name: ([\w-]+) \}/g)].map((match) => match[1] as string),
    );
    expect(new Set(deployed)).toEqual(new Set(services));
    expect(read('kubernetes/kustomization.yaml')).toContain('- network-policy.yaml');
    const published = [...compose.matchAll(/ports: \[(.*)\]/g)].map((match) => match[1] as string);
    expect(published.length).toBeGreaterThan(3);
    for (const ports of published) expect(ports).not.toMatch(/91\d\d/);
  });
});

it('every started script is an entry point of this repository', () => {
  const started = [compose, dockerfile, ...manifests].flatMap((text) =>
    [...text.matchAll(/dist\/([\w/-]+)\.js/g)].map((match) => match[1] as string),
  );
  expect(new Set(started)).toEqual(new Set(services.map((name) => `${name}/main`)));
  for (const script of started) expect(existsSync(join(root, `${script}.ts`)), script).toBe(true);
});

it('every file that the image copies exists, and base images have versions', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap((match) =>
    (match[1] as string).split(' '),
  );
  for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
  const inContext = [...readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!(.+)$/gm)].map(
    (match) => match[1],
  );
  for (const path of copied)
    expect(
      inContext.some((entry) => path === entry || path.startsWith(`${entry}/`)),
      path,
    ).toBe(true);
  const stages = [...dockerfile.matchAll(/ AS (\w+)$/gm)].map((match) => match[1] as string);
  const images = [
    ...[compose, ...manifests].join('\n').matchAll(/image: (?:\$\{[A-Z_]+:-)?([^\s}]+)/g),
    ...dockerfile.matchAll(/^FROM (\S+)/gm),
  ].filter(([, image]) => !stages.includes(image as string));
  expect(images.length).toBeGreaterThan(8);
  // Debian's tag of a release moves with its security updates only.
  for (const [, image] of images) expect(image).toMatch(/:v?\d+\.\d+\.\d+|^debian:bookworm-slim$/);
});

describe('metrics', () => {
  const sources = ['infra', 'ingest', 'processors', 'pages', 'api', 'stream-gateway'].flatMap((layer) =>
    filesUnder(join(root, layer), /(?<!\.test)\.ts$/).map((file) => readFileSync(file, 'utf8')),
  );
  const registered = new Map<string, string>(
    sources.flatMap((text) =>
      [...text.matchAll(/\.(counter|gauge|histogram)\(\s*'([a-z0-9_]+)'/g)].map(
        ([, kind, name]) => [`oddstream_${name}`, kind as string] as const,
      ),
    ),
  );
  const dashboard = JSON.parse(read('grafana/dashboards/oddstream.json')) as {
    panels: { id: number; title: string; gridPos: { x: number; w: number }; targets?: { expr: string }[] }[];
  };
  const expressions = [
    ...dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr)),
    ...[...read('prometheus/alerts.yml').matchAll(/expr: (.*)$/gm)].map((match) => match[1] as string),
  ];

  it('of the dashboard and the alerts are registered in the code, with the queried type', () => {
    const queried = expressions.flatMap((text) => [...text.matchAll(/oddstream_[a-z0-9_]+/g)].map((match) => match[0]));
    expect(queried.length).toBeGreaterThan(40);
    for (const name of queried) {
      const base = name.replace(/_(bucket|sum|count)$/, '');
      if (base !== name) expect(registered.get(base), name).toBe('histogram');
      else expect(registered.get(name), name).toMatch(/^(counter|gauge)$/);
    }
  });

  it('of readiness raise no page while a check loads, unless it is the start of the process', () => {
    const { groups } = parse(read('prometheus/alerts.yml')) as {
      groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[];
    };
    const ofReadiness = groups
      .flatMap(({ rules }) => rules)
      .filter(({ expr, labels }) => /oddstream_ready_check\b/.test(expr) && labels.severity === 'page');
    expect(ofReadiness.map(({ alert }) => alert)).toEqual(['NotReady']);
    // Each series by itself, so that another instance that loads hides no failing one.
    expect(ofReadiness[0]?.expr).toBe(
      'min by (process, check) (oddstream_ready_check unless oddstream_ready_check_loading{check!="start"} == 1) == 0',
    );
  });

  it('are queried by expressions with balanced brackets, in separate panels', () => {
    for (const text of expressions)
      for (const pair of ['()', '[]', '{}'])
        expect(text.split(pair[0] as string).length, text).toBe(text.split(pair[1] as string).length);
    expect(new Set(dashboard.panels.map((panel) => panel.id)).size).toBe(dashboard.panels.length);
    for (const panel of dashboard.panels)
      expect(panel.gridPos.x + panel.gridPos.w, panel.title).toBeLessThanOrEqual(24);
  });
});

/** Those with a section in the config.xml of the server's images, without a TTL or with one of 3 to 30 days. */
const SYSTEM_LOGS = [
  ...['query_log', 'query_thread_log', 'query_views_log', 'query_metric_log', 'part_log', 'trace_log', 'text_log'],
  ...['metric_log', 'latency_log', 'error_log', 'asynchronous_metric_log', 'asynchronous_insert_log', 'crash_log'],
  ...['opentelemetry_span_log', 'processors_profile_log', 'backup_log', 'blob_storage_log', 's3queue_log'],
];

it.each(SYSTEM_LOGS)("the ClickHouse server's own table %s is bounded: off, or with a TTL", (name) => {
  const server = read('clickhouse/config.d/server.xml').replace(/<!--[\s\S]*?-->/g, '');
  const isOff = server.includes(`<${name} remove="1"/>`);
  const ttl = new RegExp(`<${name}>\\s*<ttl>(.*)</ttl>\\s*</${name}>`).exec(server)?.[1];
  expect([isOff, ttl]).toEqual(ttl === undefined ? [true, undefined] : [false, 'event_date + INTERVAL 14 DAY DELETE']);
  const readers = ['infra', 'ingest', 'processors', 'pages', 'api', 'stream-gateway'].flatMap((layer) =>
    filesUnder(join(root, layer), /\.(ts|js|json|yaml|yml|xml)$/).filter((file) =>
      readFileSync(file, 'utf8').includes(`system.${name}`),
    ),
  );
  if (isOff) expect(readers).toEqual([]);
});

describe('ClickHouse users', () => {
  const users = read('clickhouse/users.d/oddstream.xml');
  let clickhouse: TestClickHouse;
  beforeAll(async () => {
    clickhouse = await startTestClickHouse();
  });
  afterAll(() => clickhouse.stop());

  it('the files are well-formed XML', () => {
    for (const file of filesUnder(join(deploy, 'clickhouse'), /\.xml$/)) {
      const text = readFileSync(file, 'utf8').replace(/<!--[\s\S]*?-->/g, '');
      const open: string[] = [];
      for (const [, closing, name, empty] of text.matchAll(/<(\/?)([\w]+)(?:\s+\w+="[^"<]*")*\s*(\/?)>/g)) {
        if (closing === '/') expect(open.pop(), file).toBe(name);
        else if (empty !== '/') open.push(name as string);
      }
      expect(open, file).toEqual([]);
      expect(text.replace(/<\/?\w+(?:\s+\w+="[^"<]*")*\s*\/?>/g, ''), file).not.toMatch(/[<>]/);
    }
  });

  it('every grant is valid, and no reader has access to files, the network or another database', async () => {
    const grants = [...users.matchAll(/<query>(.*?)<\/query>/g)].map((match) => match[1] as string);
    expect(grants.length).toBeGreaterThanOrEqual(8);
    for (const grant of grants) {
      const rows = await clickhouse.client.query<{ text: string }>('SELECT formatQuerySingleLine({q:String}) AS text', {
        // The server adds the grantee when it reads these files.
        q: `${grant} TO someone`,
      });
      expect(rows[0]?.text).toMatch(/^GRANT /);
    }
    const grantsOf = (reader: string) => {
      const section = users.split(`<${reader}>`)[1]?.split(`</${reader}>`)[0] ?? '';
      return [...section.matchAll(/<query>(.*?)<\/query>/g)].map((match) => match[1]);
    };
    expect(grantsOf('api')).toEqual(['GRANT SELECT ON oddstream.*']);
    const harmless = [...READABLE_SYSTEM_TABLES].filter((name) => !/_mt$|^zeros/.test(name));
    expect(grantsOf('analyst')).toEqual(
      ['market.*', ...harmless.map((name) => `system.${name}`)].map((what) => `GRANT SELECT ON ${what}`),
    );
  });

  it('every setting of the profiles exists in the engine', async () => {
    const profiles =
      users
        .split('<profiles>')[1]
        ?.split('</profiles>')[0]
        ?.replace(/<!--[\s\S]*?-->/g, '') ?? '';
    const names = [...profiles.matchAll(/^ {6}(?: {2})?<(\w+)>/gm)]
      .map((match) => match[1] as string)
      .filter((name) => name !== 'constraints');
    expect(names.length).toBeGreaterThan(30);
    const known = new Set(
      (await clickhouse.client.query<{ name: string }>('SELECT name FROM system.settings')).map((row) => row.name),
    );
    for (const name of names) expect(known, name).toContain(name);
  });
});

it('the health check distinguishes a responding process from one that does not respond', async () => {
  const check = (...ports: number[]) =>
    promisify(execFile)(process.execPath, [join(deploy, 'healthcheck.mjs'), ...ports.map(String)]);
  const metrics = createMetrics({ process: 'test', defaults: false });
  const admin = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    metrics,
    readiness: () => ({ ready: false, checks: {} }),
  });
  try {
    await expect(check(1, admin.port)).resolves.toBeDefined();
  } finally {
    await admin.close();
  }
  await expect(check(admin.port)).rejects.toMatchObject({ code: 1 });
});
