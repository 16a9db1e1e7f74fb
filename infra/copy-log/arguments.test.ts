import { describe, expect, it } from 'vitest';
import { UsageError } from '../command-line.js';
import { parseCopyArguments } from './arguments.js';

const namesOf = (...args: string[]) => parseCopyArguments(args).topics.map(({ name }) => name);

describe('parseCopyArguments', () => {
  it('copies what follows from no other topic, unless topics are named', () => {
    expect(namesOf('--to', 'lmdb:new')).toEqual([
      'sources',
      'chain.final',
      'oracle.ticks',
      'catalog',
      'accounts.state',
      'usage.totals',
      'social.posts',
    ]);
    expect(namesOf('accounts.state', '--to', 'lmdb:new', 'catalog', 'catalog')).toEqual(['accounts.state', 'catalog']);
    expect(parseCopyArguments(['--to', 'kafka://a:1', '--to-registry', 'http://b:2'])).toMatchObject({
      to: 'kafka://a:1',
      toRegistry: 'http://b:2',
    });
  });

  it.each([
    [['catalog'], /--to is missing/],
    [['--to', 'lmdb:new', 'catalogue'], /no topic catalogue: chain\.head, chain\.final/],
    [['--to', 'lmdb:new', '--force'], /--force/],
    [
      ['--to', 'kafka://a:1', '--to-registry', 'https://me:p4ss@b:2'],
      /list of processes: set COPY_LOG_REGISTRY_USER and/,
    ],
    [
      ['--to', 'kafka://a:1', '--to-registry', 'https://token@b:2'],
      /list of processes: set COPY_LOG_REGISTRY_USER and/,
    ],
  ])('rejects %j', (args, message) => {
    const parse = () => parseCopyArguments(args);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});
