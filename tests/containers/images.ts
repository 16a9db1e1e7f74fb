import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureJars } from '../../infra/kafka/jars.js';
import { productVersion } from '../../infra/release/product-version.js';
import { ensureApicurio } from '../support/schema-registry.js';
import { imageExists, provideBaseImages } from './base-images.js';
import { docker, openDaemon } from './docker.js';
import { type ServerName, serverImage } from './settings.js';

const standIns = join(import.meta.dirname, 'stand-ins');
const PRODUCT = 'oddstream:test';
/** The label of an image that these tests built. */
export const TEST_REVISION = 'test';
const TOOLS = 'oddstream-test/tools';

export interface Image {
  readonly name: string;
  /** Made here, because no registry of images can be reached. */
  readonly isStandIn: boolean;
}

export interface Images {
  /** The product, built from infra/deploy/Dockerfile. */
  product(): Promise<string>;
  server(name: ServerName): Promise<Image>;
  /** Ends the Docker daemon if it was started here. */
  close(): Promise<void>;
}

/** Opens the Docker daemon and provides images, each built or pulled once. Builds run behind the tests that do not need them. */
export async function openImages(): Promise<Images> {
  const daemon = await openDaemon();
  const started = new Map<string, Promise<Image>>();
  const once = (name: string, work: () => Promise<Image>) => {
    const known = started.get(name) ?? work();
    // Awaited by each suite that needs the image, which fails with the error.
    known.catch(() => undefined);
    started.set(name, known);
    return known;
  };
  try {
    const isOffline = await provideBaseImages();
    const build = (...args: string[]) =>
      docker('build', '--quiet', ...(isOffline ? ['--network', 'host'] : []), ...args);
    const product = () =>
      once('product', async () => {
        const dockerfile = ['--file', resolve('infra/deploy/Dockerfile'), resolve('.')];
        // With a tag the stage remains as a cache for the next run.
        if (daemon.isOwn) await build('--target', 'build', '--tag', 'oddstream-test/build', ...dockerfile);
        const labels = ['--build-arg', `VERSION=${productVersion()}`, '--build-arg', `REVISION=${TEST_REVISION}`];
        await build('--tag', PRODUCT, ...labels, ...dockerfile);
        return { name: PRODUCT, isStandIn: false };
      });
    const tools = () =>
      once('tools', async () => {
        await build('--tag', TOOLS, join(standIns, 'tools'));
        return { name: TOOLS, isStandIn: true };
      });
    const server = (service: ServerName) =>
      once(service, async () => {
        const { name, isGiven } = serverImage(service);
        if (!isOffline || isGiven) {
          if (!(await imageExists(name))) await docker('pull', '--quiet', name);
          return { name, isStandIn: false };
        }
        await (service === 'clickhouse' ? product() : tools());
        const standIn = `oddstream-test/${service}`;
        await withContext(service, (context) => build('--tag', standIn, context));
        return { name: standIn, isStandIn: true };
      });
    void product();
    return {
      product: async () => (await product()).name,
      server,
      async close() {
        await Promise.allSettled(started.values());
        if (daemon.isOwn) await docker('image', 'prune', '--force');
        await daemon.stop();
      },
    };
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

/** Build context of a stand-in: its folder and the programs that are downloaded from Maven Central. */
async function withContext(service: ServerName, work: (context: string) => Promise<unknown>): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'oddstream-image-'));
  try {
    cpSync(join(standIns, service), context, { recursive: true });
    if (service === 'kafka') cpSync(await ensureJars(resolve('data')), join(context, 'libs'), { recursive: true });
    if (service === 'schema-registry') cpSync(await ensureApicurio(), join(context, 'apicurio'), { recursive: true });
    await work(context);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
