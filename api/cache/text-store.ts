/** A cached text and its expiry. */
export interface StoredText {
  readonly text: string;
  /** Unix seconds, as passed to `set`. */
  readonly expiresAtS: number;
}

/**
 * Texts by id, stored outside of V8's heap. Hundreds of thousands of texts on the heap would make each garbage collection hundreds of milliseconds
 * longer, on both cores, and delay responses.
 */
export interface TextStore {
  readonly size: number;
  /** Bytes used by live entries (text, id, index entry). */
  readonly bytes: number;
  get(id: string): StoredText | undefined;
  /** Stores a text as the newest entry, also if the id is already stored. */
  set(id: string, stored: StoredText): void;
  delete(id: string): void;
  clear(): void;
  /** Marks an entry as referenced: eviction skips it once. */
  markReferenced(id: string): void;
  /** Evicts the oldest entry that is not marked as referenced (clock algorithm); does nothing if the store is empty. */
  evictOne(): void;
}

/** Words of a record's header: hash of the id, expiry, byte length of the text, byte length of the id with flags in the high bits. */
const HEADER_WORDS = 4;
const HEADER_BYTES = HEADER_WORDS * 4;
const LIVE = 1 << 24;
const REFERENCED = 2 << 24;
const ID_LENGTH_MASK = 0xff_ffff;
/** Bytes of the index per record; the index is half empty. */
const INDEX_ENTRY_BYTES = 8;
const INITIAL_INDEX_ENTRIES = 64;

/** Records in insertion order, live and deleted ones. */
interface Page {
  readonly number: number;
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  usedBytes: number;
  liveBytes: number;
}

/** FNV-1a over UTF-16 code units with a finalizer, so that the low bits depend on all input. Public domain (Fowler, Noll, Vo; Appleby). */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * Creates a store of at most 4 GB. Encoding `latin1`: only texts with code units below 256, one byte each; `utf8`: any text without lone surrogates.
 */
export function createTextStore(options: { encoding?: 'utf8' | 'latin1'; pageBytes?: number } = {}): TextStore {
  const encoding = options.encoding ?? 'utf8';
  const pageBytes = options.pageBytes ?? 1 << 20;
  const pages: Page[] = [];
  const free: Page[] = [];
  /** Pages in use, oldest first; new records are appended to the last. */
  const order: Page[] = [];
  /** Offset of the clock hand in the oldest page. */
  let clockHand = 0;
  /** Addresses of records + 1; 0: empty. Open addressing by hash with linear probing. */
  let index = new Uint32Array(INITIAL_INDEX_ENTRIES);
  let size = 0;
  let liveBytes = 0;
  let usedBytes = 0;

  const pageOf = (address: number): Page => pages[Math.floor(address / pageBytes)] as Page;
  const wordOf = (page: Page, at: number, n: number): number => page.words[at / 4 + n] as number;
  const lengthOf = (page: Page, at: number): number =>
    (HEADER_BYTES + wordOf(page, at, 2) + (wordOf(page, at, 3) & ID_LENGTH_MASK) + 3) & ~3;
  const idIs = (page: Page, at: number, id: string): boolean => {
    const length = wordOf(page, at, 3) & ID_LENGTH_MASK;
    return page.bytes.toString('utf8', at + HEADER_BYTES, at + HEADER_BYTES + length) === id;
  };

  /** Index entry of an id, or the empty entry where it would be inserted. */
  const indexEntryOf = (id: string, hash: number): number => {
    const mask = index.length - 1;
    for (let entry = hash & mask; ; entry = (entry + 1) & mask) {
      const reference = index[entry] as number;
      if (reference === 0) return entry;
      const page = pageOf(reference - 1);
      const at = (reference - 1) % pageBytes;
      if (wordOf(page, at, 0) === hash && idIs(page, at, id)) return entry;
    }
  };
  const indexEntryOfAddress = (address: number, hash: number): number => {
    const mask = index.length - 1;
    let entry = hash & mask;
    while (index[entry] !== address + 1) entry = (entry + 1) & mask;
    return entry;
  };
  const hashAt = (reference: number): number => wordOf(pageOf(reference - 1), (reference - 1) % pageBytes, 0);
  const growIndex = () => {
    const before = index;
    index = new Uint32Array(before.length * 2);
    const mask = index.length - 1;
    for (const reference of before) {
      if (reference === 0) continue;
      let entry = hashAt(reference) & mask;
      while (index[entry] !== 0) entry = (entry + 1) & mask;
      index[entry] = reference;
    }
  };
  /** Empties an index entry and moves later entries of the probe sequence into the gap. */
  const freeIndexEntry = (entry: number) => {
    const mask = index.length - 1;
    let gap = entry;
    for (let at = (gap + 1) & mask; index[at] !== 0; at = (at + 1) & mask) {
      const reference = index[at] as number;
      const home = hashAt(reference) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      index[gap] = reference;
      gap = at;
    }
    index[gap] = 0;
  };

  const release = (page: Page) => {
    const index = order.indexOf(page);
    if (index === 0) clockHand = 0;
    order.splice(index, 1);
    usedBytes -= page.usedBytes;
    page.usedBytes = 0;
    if (page.bytes.length === pageBytes) free.push(page);
  };
  const pageWith = (length: number): Page => {
    const last = order.at(-1);
    if (last !== undefined && last.usedBytes + length <= last.bytes.length) return last;
    let page = length <= pageBytes ? free.pop() : undefined;
    if (page === undefined) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(pageBytes, length));
      const reused = pages.findIndex((old) => old.bytes.length > pageBytes && old.usedBytes === 0);
      const number = reused < 0 ? pages.length : reused;
      page = { number, bytes, words: new Uint32Array(bytes.buffer, 0, bytes.length >> 2), usedBytes: 0, liveBytes: 0 };
      pages[number] = page;
    }
    order.push(page);
    return page;
  };
  const allocate = (length: number): { page: Page; at: number } => {
    const page = pageWith(length);
    const at = page.usedBytes;
    page.usedBytes += length;
    page.liveBytes += length;
    usedBytes += length;
    liveBytes += length;
    return { page, at };
  };
  const markDeleted = (page: Page, at: number) => {
    const length = lengthOf(page, at);
    page.words[at / 4 + 3] = wordOf(page, at, 3) & ID_LENGTH_MASK;
    page.liveBytes -= length;
    liveBytes -= length;
  };
  /** Moves a record to the newest position and sets its flags. */
  const move = (page: Page, at: number, flags: number) => {
    const length = lengthOf(page, at);
    const entry = indexEntryOfAddress(page.number * pageBytes + at, wordOf(page, at, 0));
    markDeleted(page, at);
    const to = allocate(length);
    page.bytes.copy(to.page.bytes, to.at, at, at + length);
    to.page.words[to.at / 4 + 3] = (wordOf(page, at, 3) & ID_LENGTH_MASK) | flags;
    index[entry] = to.page.number * pageBytes + to.at + 1;
  };
  const drop = (entry: number) => {
    const address = (index[entry] as number) - 1;
    const page = pageOf(address);
    freeIndexEntry(entry);
    markDeleted(page, address % pageBytes);
    size -= 1;
    if (page.liveBytes === 0) release(page);
  };
  /** Frees the page with the lowest live ratio, as long as more than a fifth of the used bytes are deleted records. */
  const compact = () => {
    while (usedBytes - liveBytes > 2 * pageBytes && usedBytes - liveBytes > usedBytes / 5) {
      const page = order
        .slice(0, -1)
        .reduce((least, other) => (liveRatioOf(other) < liveRatioOf(least) ? other : least));
      for (let at = 0; at < page.usedBytes; at += lengthOf(page, at)) {
        const flags = wordOf(page, at, 3) & ~ID_LENGTH_MASK;
        if (flags !== 0) move(page, at, flags);
      }
      release(page);
    }
  };
  const liveRatioOf = (page: Page): number => page.liveBytes / page.usedBytes;

  return {
    get size() {
      return size;
    },
    get bytes() {
      return liveBytes + size * INDEX_ENTRY_BYTES;
    },
    get(id) {
      const reference = index[indexEntryOf(id, hashOf(id))] as number;
      if (reference === 0) return undefined;
      const page = pageOf(reference - 1);
      const at = (reference - 1) % pageBytes;
      const from = at + HEADER_BYTES + (wordOf(page, at, 3) & ID_LENGTH_MASK);
      return {
        text: page.bytes.toString(encoding, from, from + wordOf(page, at, 2)),
        expiresAtS: wordOf(page, at, 1),
      };
    },
    set(id, { text, expiresAtS }) {
      const hash = hashOf(id);
      const before = indexEntryOf(id, hash);
      if (index[before] !== 0) drop(before);
      const idBytes = Buffer.byteLength(id);
      const textBytes = Buffer.byteLength(text, encoding);
      const { page, at } = allocate((HEADER_BYTES + idBytes + textBytes + 3) & ~3);
      page.words.set([hash, expiresAtS, textBytes, idBytes | LIVE], at / 4);
      page.bytes.write(id, at + HEADER_BYTES);
      page.bytes.write(text, at + HEADER_BYTES + idBytes, encoding);
      if ((size + 1) * 2 > index.length) growIndex();
      index[indexEntryOf(id, hash)] = page.number * pageBytes + at + 1;
      size += 1;
      compact();
    },
    delete(id) {
      const entry = indexEntryOf(id, hashOf(id));
      if (index[entry] === 0) return;
      drop(entry);
      compact();
    },
    clear() {
      for (const page of [...order]) {
        page.liveBytes = 0;
        release(page);
      }
      index.fill(0);
      size = 0;
      liveBytes = 0;
    },
    markReferenced(id) {
      const reference = index[indexEntryOf(id, hashOf(id))] as number;
      if (reference === 0) return;
      const page = pageOf(reference - 1);
      const at = (reference - 1) % pageBytes;
      page.words[at / 4 + 3] = wordOf(page, at, 3) | REFERENCED;
    },
    evictOne() {
      while (size > 0) {
        const page = order[0] as Page;
        if (clockHand >= page.usedBytes) {
          release(page);
          continue;
        }
        const at = clockHand;
        clockHand += lengthOf(page, at);
        const flags = wordOf(page, at, 3) & ~ID_LENGTH_MASK;
        if (flags === 0) continue;
        if ((flags & REFERENCED) !== 0) {
          move(page, at, LIVE);
          continue;
        }
        drop(indexEntryOfAddress(page.number * pageBytes + at, wordOf(page, at, 0)));
        return;
      }
    },
  };
}
