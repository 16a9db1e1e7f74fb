/** What is held under an id, and until when. */
export interface StoredText {
  readonly text: string;
  /** Unix seconds, as it was told with the text. */
  readonly untilS: number;
}

/**
 * Texts by id in memory outside of V8's heap. The garbage collector looks at every object of the heap again and again: hundreds of thousands of held
 * texts would cost each collection hundreds of milliseconds of both cores, and answers wait meanwhile.
 */
export interface TextStore {
  readonly size: number;
  /** Of what is held: texts, ids and their places. */
  readonly bytes: number;
  get(id: string): StoredText | undefined;
  /** Puts it behind everything else, also where the id is held already. */
  set(id: string, stored: StoredText): void;
  delete(id: string): void;
  clear(): void;
  /** Notes that this one was asked for: it is passed over once when something has to go. */
  want(id: string): void;
  /** Lets go of what was put in longest ago and not asked for since (the clock algorithm); nothing where nothing is held. */
  letGo(): void;
}

/** Words of a record's head: hash of the id, until when, bytes of the text, bytes of the id with flags above. */
const HEAD_WORDS = 4;
const HEAD_BYTES = HEAD_WORDS * 4;
const LIVE = 1 << 24;
const WANTED = 2 << 24;
const ID_BYTES = 0xff_ffff;
/** A place among the slots, which are half empty. */
const SLOT_BYTES = 8;
const FIRST_SLOTS = 64;

/** Records one after the other, the dead among the living; the oldest first. */
interface Page {
  readonly number: number;
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  used: number;
  living: number;
}

/** FNV-1a over UTF-16 units, mixed so that its low bits depend on all of it. Public domain (Fowler, Noll, Vo; Appleby's finalizer). */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * `latin1`: texts of code units below 256 only, a byte each; otherwise any text, as UTF-8 (lone surrogates do not survive). Holds up to 4 GB.
 */
export function createTextStore(options: { encoding?: 'utf8' | 'latin1'; pageBytes?: number } = {}): TextStore {
  const encoding = options.encoding ?? 'utf8';
  const pageBytes = options.pageBytes ?? 1 << 20;
  const pages: Page[] = [];
  const free: Page[] = [];
  /** Pages in use, the oldest first; records are put into the last. */
  const order: Page[] = [];
  /** Where in the oldest page the clock's hand stands. */
  let hand = 0;
  /** Addresses of records + 1, 0 for none: open addressing by hash, linear probing. */
  let slots = new Uint32Array(FIRST_SLOTS);
  let size = 0;
  let living = 0;
  let used = 0;

  const pageOf = (address: number): Page => pages[Math.floor(address / pageBytes)] as Page;
  const wordOf = (page: Page, at: number, n: number): number => page.words[at / 4 + n] as number;
  const lengthOf = (page: Page, at: number): number =>
    (HEAD_BYTES + wordOf(page, at, 2) + (wordOf(page, at, 3) & ID_BYTES) + 3) & ~3;
  const idIs = (page: Page, at: number, id: string): boolean => {
    const length = wordOf(page, at, 3) & ID_BYTES;
    return page.bytes.toString('utf8', at + HEAD_BYTES, at + HEAD_BYTES + length) === id;
  };

  /** The slot of an id, or the empty one where it belongs. */
  const slotOf = (id: string, hash: number): number => {
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = slots[slot] as number;
      if (place === 0) return slot;
      const page = pageOf(place - 1);
      const at = (place - 1) % pageBytes;
      if (wordOf(page, at, 0) === hash && idIs(page, at, id)) return slot;
    }
  };
  const slotOfAddress = (address: number, hash: number): number => {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== address + 1) slot = (slot + 1) & mask;
    return slot;
  };
  const hashAt = (place: number): number => wordOf(pageOf(place - 1), (place - 1) % pageBytes, 0);
  const widen = () => {
    const before = slots;
    slots = new Uint32Array(before.length * 2);
    const mask = slots.length - 1;
    for (const place of before) {
      if (place === 0) continue;
      let slot = hashAt(place) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = place;
    }
  };
  /** Empties a slot; those behind it that it kept from their place move up. */
  const vacate = (slot: number) => {
    const mask = slots.length - 1;
    let gap = slot;
    for (let at = (gap + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const place = slots[at] as number;
      const home = hashAt(place) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      slots[gap] = place;
      gap = at;
    }
    slots[gap] = 0;
  };

  const release = (page: Page) => {
    const index = order.indexOf(page);
    if (index === 0) hand = 0;
    order.splice(index, 1);
    used -= page.used;
    page.used = 0;
    if (page.bytes.length === pageBytes) free.push(page);
  };
  const pageWith = (length: number): Page => {
    const last = order.at(-1);
    if (last !== undefined && last.used + length <= last.bytes.length) return last;
    let page = length <= pageBytes ? free.pop() : undefined;
    if (page === undefined) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(pageBytes, length));
      const reused = pages.findIndex((old) => old.bytes.length > pageBytes && old.used === 0);
      const number = reused < 0 ? pages.length : reused;
      page = { number, bytes, words: new Uint32Array(bytes.buffer, 0, bytes.length >> 2), used: 0, living: 0 };
      pages[number] = page;
    }
    order.push(page);
    return page;
  };
  const take = (length: number): { page: Page; at: number } => {
    const page = pageWith(length);
    const at = page.used;
    page.used += length;
    page.living += length;
    used += length;
    living += length;
    return { page, at };
  };
  const bury = (page: Page, at: number) => {
    const length = lengthOf(page, at);
    page.words[at / 4 + 3] = wordOf(page, at, 3) & ID_BYTES;
    page.living -= length;
    living -= length;
  };
  /** To the end of everything, no longer wanted unless it is to stay so. */
  const move = (page: Page, at: number, flags: number) => {
    const length = lengthOf(page, at);
    const slot = slotOfAddress(page.number * pageBytes + at, wordOf(page, at, 0));
    bury(page, at);
    const to = take(length);
    page.bytes.copy(to.page.bytes, to.at, at, at + length);
    to.page.words[to.at / 4 + 3] = (wordOf(page, at, 3) & ID_BYTES) | flags;
    slots[slot] = to.page.number * pageBytes + to.at + 1;
  };
  const drop = (slot: number) => {
    const address = (slots[slot] as number) - 1;
    const page = pageOf(address);
    vacate(slot);
    bury(page, address % pageBytes);
    size -= 1;
    if (page.living === 0) release(page);
  };
  /** Moves what lives out of the emptiest page while a fifth of all is dead. */
  const tidy = () => {
    while (used - living > 2 * pageBytes && used - living > used / 5) {
      const page = order.slice(0, -1).reduce((least, other) => (shareOf(other) < shareOf(least) ? other : least));
      for (let at = 0; at < page.used; at += lengthOf(page, at)) {
        const flags = wordOf(page, at, 3) & ~ID_BYTES;
        if (flags !== 0) move(page, at, flags);
      }
      release(page);
    }
  };
  const shareOf = (page: Page): number => page.living / page.used;

  return {
    get size() {
      return size;
    },
    get bytes() {
      return living + size * SLOT_BYTES;
    },
    get(id) {
      const place = slots[slotOf(id, hashOf(id))] as number;
      if (place === 0) return undefined;
      const page = pageOf(place - 1);
      const at = (place - 1) % pageBytes;
      const from = at + HEAD_BYTES + (wordOf(page, at, 3) & ID_BYTES);
      return {
        text: page.bytes.toString(encoding, from, from + wordOf(page, at, 2)),
        untilS: wordOf(page, at, 1),
      };
    },
    set(id, { text, untilS }) {
      const hash = hashOf(id);
      const before = slotOf(id, hash);
      if (slots[before] !== 0) drop(before);
      const idBytes = Buffer.byteLength(id);
      const textBytes = Buffer.byteLength(text, encoding);
      const { page, at } = take((HEAD_BYTES + idBytes + textBytes + 3) & ~3);
      page.words.set([hash, untilS, textBytes, idBytes | LIVE], at / 4);
      page.bytes.write(id, at + HEAD_BYTES);
      page.bytes.write(text, at + HEAD_BYTES + idBytes, encoding);
      if ((size + 1) * 2 > slots.length) widen();
      slots[slotOf(id, hash)] = page.number * pageBytes + at + 1;
      size += 1;
      tidy();
    },
    delete(id) {
      const slot = slotOf(id, hashOf(id));
      if (slots[slot] === 0) return;
      drop(slot);
      tidy();
    },
    clear() {
      for (const page of [...order]) {
        page.living = 0;
        release(page);
      }
      slots.fill(0);
      size = 0;
      living = 0;
    },
    want(id) {
      const place = slots[slotOf(id, hashOf(id))] as number;
      if (place === 0) return;
      const page = pageOf(place - 1);
      const at = (place - 1) % pageBytes;
      page.words[at / 4 + 3] = wordOf(page, at, 3) | WANTED;
    },
    letGo() {
      while (size > 0) {
        const page = order[0] as Page;
        if (hand >= page.used) {
          release(page);
          continue;
        }
        const at = hand;
        hand += lengthOf(page, at);
        const flags = wordOf(page, at, 3) & ~ID_BYTES;
        if (flags === 0) continue;
        if ((flags & WANTED) !== 0) {
          move(page, at, LIVE);
          continue;
        }
        drop(slotOfAddress(page.number * pageBytes + at, wordOf(page, at, 0)));
        return;
      }
    },
  };
}
