import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { productVersion } from '../../infra/release/product-version.js';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/product.js';
import { docker } from './docker.js';
import { type Images, TEST_REVISION } from './images.js';

const MB = 1_000_000;
const MAX_SIZE_MB = 350;

/** The image of infra/deploy/Dockerfile: what it consists of, and its api as a user starts it. */
export function describeProductImage(imagesOf: () => Images): void {
  describe('image of the product', () => {
    const container = `oddstream-api-${randomUUID()}`;
    let image: string;
    let port: number;
    const inside = (...command: string[]) => docker('exec', container, ...command);
    beforeAll(async () => {
      image = await imagesOf().product();
      port = await freePort();
      const limits = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
      await docker(
        'run',
        '--detach',
        '--init',
        '--name',
        container,
        ...limits,
        '--publish',
        `127.0.0.1:${port}:8080`,
        image,
      );
    }, 600_000);
    afterAll(() => docker('rm', '--force', '--volumes', container));

    it(`is smaller than ${MAX_SIZE_MB} MB`, async () => {
      const size = Number(await docker('image', 'inspect', '--format', '{{.Size}}', image)) / MB;
      console.info(`image of the product: ${Math.round(size)} MB`);
      expect(size).toBeLessThan(MAX_SIZE_MB);
    });

    it('has labels, a health check, and the user node', async () => {
      const config = JSON.parse(await docker('image', 'inspect', '--format', '{{json .Config}}', image)) as {
        Labels: Record<string, string>;
        Healthcheck: { Test: readonly string[] };
        User: string;
        Volumes: Record<string, unknown>;
      };
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.title': 'Oddstream',
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': productVersion(),
        'org.opencontainers.image.revision': TEST_REVISION,
      });
      expect(config.Healthcheck.Test).toEqual(['CMD', 'node', '/app/healthcheck.mjs']);
      expect(config.User).toBe('node');
      expect(Object.keys(config.Volumes)).toEqual(['/var/lib/oddstream']);
    });

    it('runs without root, capabilities and build tools on a read-only file system', async () => {
      expect(await inside('id', '-u')).toBe('1000');
      expect(await inside('sh', '-c', 'grep CapEff /proc/self/status')).toMatch(/\b0{16}$/);
      await expect(inside('touch', '/app/file')).rejects.toThrow(/Read-only file system/);
      await inside('touch', '/var/lib/oddstream/file');
      for (const tool of ['npm', 'npx', 'yarn', 'corepack', 'gcc', 'make', 'python3', 'git', 'curl'])
        await expect(inside('sh', '-c', `command -v ${tool}`), tool).rejects.toThrow();
      const packages = (await inside('sh', '-c', 'ls /app/node_modules /app/node_modules/@*')).split('\n');
      for (const name of ['typescript', 'vitest', 'chdb', '@chdb', '@types', '@biomejs'])
        expect(packages).not.toContain(name);
      expect(await inside('sh', '-c', 'find /app/node_modules/uWebSockets.js -name "*.node" | wc -l')).toBe('1');
    });

    it('serves the api without further settings, and its health check passes', async () => {
      await eventually('/healthz', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
      for (const path of ['/docs', '/openapi.json', '/status', '/sql', '/dashboard'])
        expect((await fetch(`http://127.0.0.1:${port}${path}`)).status, path).toBe(200);
      await eventually('the health check', async () => {
        return (await docker('inspect', '--format', '{{.State.Health.Status}}', container)) === 'healthy';
      });
    });

    it('stops on docker stop within 5 s with exit code 0', async () => {
      await docker('stop', '-t', '5', container);
      expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container)).toBe('0');
    });
  });
}
