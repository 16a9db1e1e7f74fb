import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, run } from './docker.js';
import { dockerRoot } from './settings.js';

/** The images that infra/deploy/Dockerfile starts from. */
const DEBIAN = 'debian:bookworm-slim';
const NODE = `node:20.20.2-bookworm-slim`;
const STAND_IN = 'oddstream.stand-in';

export const imageExists = (name: string) =>
  docker('image', 'inspect', name).then(
    () => true,
    () => false,
  );
const isStandIn = async (name: string) =>
  (await docker('image', 'inspect', '--format', `{{index .Config.Labels "${STAND_IN}"}}`, name)) === 'true';

/**
 * Provides the base images. Where no registry of images can be reached they are made of Debian's packages and this machine's Node, and `true` is returned:
 * other images must be made here, too, and their builds use the network of this machine.
 */
export async function provideBaseImages(): Promise<boolean> {
  if (!(await imageExists(NODE)) || !(await imageExists(DEBIAN))) {
    const pulled = await docker('pull', '--quiet', NODE)
      .then(() => docker('pull', '--quiet', DEBIAN))
      .then(
        () => true,
        () => false,
      );
    if (pulled) return false;
    await makeDebian();
    await makeNode();
  }
  return isStandIn(NODE);
}

/** Debian's smallest installation without documents and package lists, as its own slim image. */
async function makeDebian(): Promise<void> {
  mkdirSync(dockerRoot, { recursive: true });
  // Not in a temporary file system, which may forbid the devices that an installation has.
  const dir = mkdtempSync(join(dockerRoot, 'debian-'));
  try {
    await run('debootstrap', ['--variant=minbase', 'bookworm', dir]);
    for (const path of [
      'var/cache/apt',
      'var/lib/apt/lists',
      'var/log',
      'usr/share/doc',
      'usr/share/locale',
      'usr/share/info',
    ])
      rmSync(join(dir, path), { recursive: true, force: true });
    for (const path of ['var/cache/apt/archives/partial', 'var/lib/apt/lists/partial', 'var/log/apt'])
      mkdirSync(join(dir, path), { recursive: true });
    rmSync(join(dir, 'usr/share/man'), { recursive: true, force: true });
    // Packages of Java link their pages into it.
    mkdirSync(join(dir, 'usr/share/man/man1'), { recursive: true });
    const changes = ['--change', 'CMD ["bash"]', '--change', `LABEL ${STAND_IN}=true`];
    const archive = join(dir, '..', `${Date.now()}-debian.tar`);
    try {
      await run('tar', ['-C', dir, '-cf', archive, '.']);
      await docker('import', ...changes, archive, DEBIAN);
    } finally {
      rmSync(archive, { force: true });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** This machine's Node and npm, with npm's registry and certificates. */
async function makeNode(): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'oddstream-node-'));
  const setting = (name: string) => run('npm', ['config', 'get', name]);
  try {
    cpSync(process.execPath, join(context, 'node'));
    cpSync(join(await run('npm', ['root', '--global']), 'npm'), join(context, 'npm'), { recursive: true });
    const authority = await setting('cafile');
    const hasAuthority = existsSync(authority);
    if (hasAuthority) cpSync(authority, join(context, 'ca.crt'), { dereference: true });
    else writeFileSync(join(context, 'ca.crt'), '');
    const npmrc = [`registry=${await setting('registry')}`, ...(hasAuthority ? ['cafile=/usr/local/etc/ca.crt'] : [])];
    writeFileSync(join(context, 'npmrc'), `${npmrc.join('\n')}\n`);
    writeFileSync(
      join(context, 'Dockerfile'),
      [
        `FROM ${DEBIAN}`,
        'COPY node /usr/local/bin/node',
        'COPY npm /usr/local/lib/node_modules/npm',
        'COPY npmrc ca.crt /usr/local/etc/',
        'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node',
        'CMD ["node"]',
        '',
      ].join('\n'),
    );
    await docker('build', '--quiet', '--tag', NODE, context);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
