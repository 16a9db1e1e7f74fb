import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../infra/config/config.js';
import { runCommand } from '../../infra/run-command.js';
import { adminPaths } from '../../infra/telemetry/admin-server.js';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly envFrom: readonly { readonly configMapRef?: { name: string }; readonly secretRef?: { name: string } }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: { readonly requests: Record<string, string>; readonly limits: Record<string, string> };
  readonly securityContext: object;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly startupProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
  readonly securityContext: { readonly runAsUser: number };
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Record<string, string>;
  readonly stringData?: Record<string, string>;
  readonly spec: {
    readonly selector: Record<string, string>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
    readonly podSelector: { readonly matchLabels?: { readonly app: string } };
    readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[];
    readonly template: {
      readonly metadata: { readonly labels: { readonly app: string }; readonly annotations: Record<string, string> };
      readonly spec: PodSpec;
    };
  };
}

const folder = resolve('infra/deploy/kubernetes');
const manifests = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
  .map((document) => document.toJS() as Manifest);
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const deployments = ofKind('Deployment').map((manifest) => {
  const { spec, metadata } = manifest.spec.template;
  return { name: manifest.metadata.name, pod: spec, metadata, container: spec.containers[0] as Container };
});
const dockerfile = readFileSync(resolve('infra/deploy/Dockerfile'), 'utf8');

/** Environment of a deployment's container, with the values of the ConfigMap and of the example secrets. */
function environmentOf(container: Container): Record<string, string> {
  const sources = container.envFrom.map(({ configMapRef, secretRef }) => {
    const [kind, name] = configMapRef !== undefined ? ['ConfigMap', configMapRef.name] : ['Secret', secretRef?.name];
    const source = ofKind(kind as string).find((manifest) => manifest.metadata.name === name);
    if (source === undefined) throw new Error(`${kind} ${name} is not in the manifests`);
    return source.data ?? source.stringData ?? {};
  });
  return Object.assign({}, ...sources, Object.fromEntries(container.env.map(({ name, value }) => [name, value])));
}

/** Kubernetes' own notation: 256Mi, 1Gi; in MB. */
function megabytes(quantity: string): number {
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  if (number === undefined) throw new Error(`${quantity} is not a quantity of memory`);
  return (Number(number) * (unit === 'Gi' ? 1024 ** 3 : 1024 ** 2)) / 1e6;
}

describe('types of the Kubernetes API', () => {
  const typeOf = ({ apiVersion, kind }: Manifest) => {
    const path = apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '');
    return `import('kubernetes-types/${path}').${kind}`;
  };
  // Inside the project, where the compiler finds the types.
  const work = mkdtempSync(resolve('tests/deploy', '.types-'));
  afterAll(() => rmSync(work, { recursive: true, force: true }));
  /** Output of the compiler for these objects as literals, of which it also rejects unknown fields. */
  const compile = async (name: string, objects: readonly Manifest[]) => {
    const file = join(work, `${name}.ts`);
    const lines = objects.map((one, n) => `export const m${n}: ${typeOf(one)} = ${JSON.stringify(one)};`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
    ];
    return runCommand(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...options, file]);
  };

  it('accept every manifest', async () => {
    expect(manifests.length).toBeGreaterThan(12);
    const { code, output } = await compile('manifests', manifests);
    expect(output).toBe('');
    expect(code).toBe(0);
  });

  it('reject an unknown field, a wrong type and a missing field', async () => {
    const [deployment, service] = [ofKind('Deployment')[0], ofKind('Service')[0]].map((one) => JSON.stringify(one));
    const broken = [
      deployment?.replace('"livenessProbe"', '"livelinessProbe"'),
      deployment?.replace('"containerPort":8080', '"containerPort":"8080"'),
      deployment?.replace('"name":"api","image"', '"image"'),
      service?.replace('"targetPort"', '"target"'),
    ].map((text) => JSON.parse(text as string) as Manifest);
    const { code, output } = await compile('broken', broken);
    expect(code).not.toBe(0);
    for (const [n] of broken.entries()) expect(output).toContain(`broken.ts(${n + 1},`);
  });
});

describe('deployments', () => {
  const published = {
    ingest: (_: ReturnType<typeof loadConfig>) => ({}),
    processors: () => ({}),
    api: ({ ports }: ReturnType<typeof loadConfig>) => ({ http: ports.api }),
    'stream-gateway': ({ ports }: ReturnType<typeof loadConfig>) => ({ ws: ports.gateway, books: ports.orderbook }),
  };
  const adminPort = { ingest: 'ingest', processors: 'processors', api: 'api', 'stream-gateway': 'gateway' } as const;
  type Name = keyof typeof published;

  it('are those of the four processes', () => {
    expect(deployments.map(({ name }) => name).sort()).toEqual(Object.keys(published).sort());
    for (const { name, container } of deployments) expect(container.args).toEqual([`dist/${name}/main.js`]);
  });

  it.each(deployments)(
    'of $name has settings that the process accepts, and opens the ports that it listens on',
    ({ name, container, metadata }) => {
      const environment = environmentOf(container);
      const config = loadConfig(environment);
      expect(config.host).toBe('0.0.0.0');
      expect(config.logUrl).toMatch(/^kafka:/);
      const expected = { ...published[name as Name](config), admin: config.ports.admin[adminPort[name as Name]] };
      expect(Object.fromEntries(container.ports.map(({ name: port, containerPort }) => [port, containerPort]))).toEqual(
        expected,
      );
      expect(metadata.annotations).toEqual({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': String(expected.admin),
      });
    },
  );

  it.each(deployments)('of $name probes paths that its ports serve', ({ name, container }) => {
    const { livenessProbe, startupProbe, readinessProbe } = container;
    for (const probe of [livenessProbe, startupProbe])
      expect(probe.httpGet).toEqual({ path: '/healthz', port: 'admin' });
    expect(adminPaths).toContain(readinessProbe.httpGet.path);
    // What serves clients must stay in its Service while a source or the log is unreachable.
    const served: Readonly<Record<string, string>> = { api: 'http', 'stream-gateway': 'ws' };
    const port = served[name];
    expect(readinessProbe.httpGet).toEqual(
      port === undefined ? { path: '/readyz', port: 'admin' } : { path: '/healthz', port },
    );
  });

  it.each(deployments)('of $name has room for the measured memory, twice of it as its limit', ({ name, container }) => {
    const operations = readFileSync(resolve('docs/OPERATIONS.md'), 'utf8').replaceAll('\n', ' ');
    const measured = Number(new RegExp(`Resident memory a minute after.*?\\b${name} (\\d+) MB`).exec(operations)?.[1]);
    const { requests, limits } = container.resources;
    expect(measured).toBeGreaterThan(50);
    expect(megabytes(requests.memory as string)).toBeGreaterThanOrEqual(measured);
    expect(megabytes(limits.memory as string)).toBeGreaterThanOrEqual(2 * measured);
    expect(requests.cpu).toBeDefined();
  });

  it.each(deployments)('of $name reserves and limits memory as the compose file does', ({ name, container }) => {
    const { services } = parse(readFileSync(resolve('infra/deploy/compose.yaml'), 'utf8'), { merge: true }) as {
      services: Record<string, { mem_reservation: string; mem_limit: string }>;
    };
    const composed = (quantity: string | undefined) =>
      megabytes(quantity?.replace(/[mg]$/, (unit) => `${unit.toUpperCase()}i`) ?? '');
    expect(composed(services[name]?.mem_reservation)).toBe(megabytes(container.resources.requests.memory as string));
    expect(composed(services[name]?.mem_limit)).toBe(megabytes(container.resources.limits.memory as string));
  });

  it.each(deployments)(
    'of $name mounts the directories that the image writes, as its user, and has time to stop',
    ({ pod, container }) => {
      const data = /ODDSTREAM_DATA=(\S+)/.exec(dockerfile)?.[1];
      expect(container.volumeMounts.map(({ mountPath }) => mountPath).sort()).toEqual(['/tmp', data]);
      expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
      });
      expect(dockerfile).toMatch(/useradd --uid 1000\b/);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(4);
    },
  );

  it.each(ofKind('Service').map(({ spec }) => spec.selector.app))(
    'keep %s listening for 5 s after it was taken out of its Service, and leave it time to drain',
    (app) => {
      const { pod, container } = deployments.find(({ metadata }) => metadata.labels.app === app) ?? {};
      expect(container?.lifecycle?.preStop.exec.command).toEqual(['sleep', '5']);
      // Together with the 4 s in which a process drains.
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(5 + 4);
      // `sleep` is in Debian's coreutils, which no image of Debian lacks.
      expect(dockerfile.match(/^FROM .*$/gm)?.at(-1)).toBe('FROM debian:bookworm-slim');
    },
  );

  it('use the image and the tag of the kustomization', () => {
    const { images, resources } = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as {
      images: { name: string; newTag: string }[];
      resources: string[];
    };
    for (const { container } of deployments) expect(container.image).toBe(`${images[0]?.name}:${images[0]?.newTag}`);
    const files = readdirSync(folder).filter((name) => !['kustomization.yaml', 'secrets.example.yaml'].includes(name));
    expect([...resources].sort()).toEqual(files.sort());
  });
});

it('services and network policies name the same public ports of the pods', () => {
  for (const service of ofKind('Service')) {
    const target = deployments.find(({ metadata }) => metadata.labels.app === service.spec.selector.app);
    const policy = ofKind('NetworkPolicy').find(
      ({ spec }) => spec.podSelector.matchLabels?.app === service.spec.selector.app,
    );
    const open = service.spec.ports.map(({ port, targetPort }) => {
      expect(target?.container.ports).toContainEqual({ name: targetPort, containerPort: port });
      return targetPort;
    });
    expect(
      policy?.spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
      service.metadata.name,
    ).toEqual(open);
  }
});
