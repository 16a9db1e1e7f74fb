import { afterEach, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { openStateStores } from '../../processors/stateful/state-store.js';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from '../support/small-disk.js';

const noDisk = whyNoSmallDisk();
let disk: SmallDisk | undefined;
afterEach(() => disk?.remove());

it.skipIf(noDisk !== null)(
  `a state store on a full disk throws a retryable error, keeps its state, and writes once there is space${noDisk === null ? '' : ` (not run: ${noDisk})`}`,
  async () => {
    disk = mountSmallDisk(4);
    const stores = openStateStores(`${disk.dir}/state`, 'lmdb:log');
    const store = stores.open('positions-0');
    const changes = (value: string) =>
      Array.from({ length: 8_000 }, (_, n) => [`wallet-${n}`, Buffer.from(value.repeat(1_000))] as const);
    expect(store.commit([['wallet-0', Buffer.from('old')]], undefined, 7)).toBe(true);
    expect(() => store.commit(changes('a'), 7, 8)).toThrow(RetryableError);
    expect(() => store.load(changes('b'))).toThrow(/Cannot write the state in .*state: /);
    expect([store.position(), store.get('wallet-0')?.toString()]).toEqual([7, 'old']);
    disk.enlarge(100);
    expect(store.commit(changes('c'), 7, 9)).toBe(true);
    expect([store.position(), store.get('wallet-7999')?.length]).toEqual([9, 1_000]);
    await stores.close();
  },
);
