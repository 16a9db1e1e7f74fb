import { gzipSync } from 'node:zlib';
import type { Route } from '../../api/http/route.js';

/** One hostile request, as the bytes that go to the server. */
export interface HostileInput {
  readonly kind: string;
  readonly bytes: Buffer;
  /** The bytes may be no whole request, so that waiting for more is right. */
  readonly mayStayUnanswered: boolean;
}

export type Random = () => number;

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WALLET = '0x5f390e4b7cd36a1d1b2fae5b9f4c0a6f0e9ddc11';
/** Values that a parameter is likely not to expect; the last ones are such as it may, so that requests get behind validation. */
const VALUES: readonly string[] = [
  ...[
    '',
    '%00',
    'a%00b',
    '%',
    '%zz',
    '%E0%A4%A',
    '%ff%fe',
    '%F0%9F%92%A9',
    '%u0041',
    '+',
    '%20',
    '%0d%0aX-A:%20b',
    '%2e%2e%2f',
    '/',
    '\\',
  ],
  ...[
    '-1',
    '0',
    '-0',
    '1.5',
    '1e309',
    '-1e309',
    'NaN',
    'Infinity',
    '0x10',
    '1_000',
    '٣',
    '9'.repeat(400),
    '-9223372036854775809',
  ],
  ...[
    '18446744073709551616',
    '115792089237316195423570985008687907853269984665640564039457584007913129639936',
    '253402300800000',
  ],
  ...[
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ],
  ...[
    "'",
    "' OR 1=1 --",
    '"; DROP TABLE fills; --',
    '{x:String}',
    '{limit:UInt64}',
    '#{7*7}',
    '%7B%7Bx%7D%7D',
    '<script>',
    '$where',
  ],
  ...[
    '\u00e9',
    '\u202e',
    '%C0%AE',
    '%ED%A0%80',
    '%EF%BF%BF',
    'a'.repeat(3_000),
    `${'%00'.repeat(200)}`,
    ','.repeat(2_000),
    '0,'.repeat(900),
  ],
  ...['eyJ', 'e30', 'W10', 'bnVsbA', 'AAAA', 'eyJ2IjoxfQ', Buffer.from('{"o":-1,"t":1e400}').toString('base64url')],
  ...[
    '1',
    '5',
    '100',
    '1000',
    'asc',
    'desc',
    'all',
    '1h',
    '5m',
    'BTC',
    'BUY',
    '1790000000',
    '1790000000000',
    WALLET,
    `0x${'a'.repeat(64)}`,
  ],
  ...[
    '1234567890123456789012345678901234567890123456789012345678901234567890',
    'btc-updown-5m-1790000100',
    'closed',
    'open',
    'wallet',
  ],
];
const NAMES: readonly string[] = [
  'key',
  'limit',
  'cursor',
  '__proto__',
  'constructor',
  'a[]',
  'a[b]',
  '',
  'limit[]',
  '%00',
  'x'.repeat(500),
];
const PATHS: readonly string[] = [
  ...[
    '//',
    '/.',
    '/..',
    '/../../etc/passwd',
    '/docs/../../package.json',
    '/docs/%2e%2e%2f',
    '/app/assets/..%2f..%2fmain.js',
    '/%',
  ],
  ...[
    '/\\..\\',
    '/v1/..;/keys',
    '/v3/%00',
    '/v3//trades',
    '/V3/TRADES',
    '/v3/trades/',
    '/v3/trades;a=b',
    '/v3/trades%3Flimit=1',
    '/*',
  ],
  ...[
    '/console/%',
    '/app/wallet/%ff',
    '/healthz%00',
    '/healthz/../v3/trades',
    'http://[::1/',
    'http://',
    'ftp://x/y',
    '*',
    '?',
    '/#',
    '/ a',
  ],
  ...['/__proto__', '/constructor', '/.env', '/.git/config', '/dev-key', '/wp-login.php', '/metrics%0a'],
];
const HEADERS: readonly string[] = [
  ...[
    'X-Api-Key: ',
    'X-Api-Key: \u00ff\u00fe',
    'X-Api-Key: a\r\nX-Api-Key: b',
    'Authorization: Bearer',
    'Authorization: Bearer a b c',
    'Authorization: \t',
  ],
  ...[
    'Accept: ',
    'Accept: */*;q=2',
    `Accept: ${'a/b,'.repeat(1_500)}`,
    'Accept: text/html;;;=',
    'Accept-Encoding: gzip;q=x, *;q=0',
    'Accept-Encoding: br',
  ],
  ...[
    'Range: bytes=-1',
    'Range: bytes=9-1,a-b',
    'Range: bytes=0-0,1-1',
    'If-None-Match: *',
    'If-Modified-Since: never',
    'If-Match: "a"',
    'If-Range: x',
  ],
  ...[
    'X-Forwarded-For: ::ffff:999.1.1.1, \u00e9',
    'X-Forwarded-For: , , ,',
    'Forwarded: for="[',
    'X-Forwarded-Host: evil',
    'X-Forwarded-Proto: \u00e9',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: 418',
    'TE: trailers',
    'Connection: X-Api-Key',
    'Connection: keep-alive, Upgrade',
    'Upgrade: h2c',
    'Upgrade: websocket',
  ],
  ...[
    'X-Request-Id: a b',
    `X-Request-Id: ${'x'.repeat(5_000)}`,
    'Cookie: a=b; __proto__=c',
    'Sec-Fetch-Site: ',
    'Sec-Fetch-Site: \u00ff',
    'Origin: ',
    'Origin: null',
  ],
  ...[
    'Origin: http://[',
    'Origin: javascript:alert(1)',
    'Content-Type: ',
    'Content-Type: application/json; charset=utf-7',
    'Content-Type: ;;',
    'Date: x',
  ],
  ...[
    `X-Big: ${'y'.repeat(12_000)}`,
    `${'X-Many: 1\r\n'.repeat(900)}X-Many: 2`,
    ': no name',
    'X-Null: a\u0000b',
    'X-Tab:\t\tb',
    ' X-Folded: a',
    'X-Cr: a\rb',
  ],
];
const HOSTS: readonly string[] = [
  ...[
    'localhost',
    'localhost',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'localhost:99999',
    'evil.example',
    '',
    'a b',
    '[::1',
    '@',
    'localhost/..',
  ],
  ...[
    '%00',
    'xn--',
    '\u00e9',
    '1.2.3.4.5',
    '256.1.1.1',
    '0x7f.1',
    'localhost.',
    '..',
    'a'.repeat(300),
    '[v1.a]',
    'user@localhost',
    'localhost#x',
  ],
];
const BODIES: readonly (Buffer | string)[] = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[',
    '"',
    'null',
    'true',
    '0',
    '1e400',
    '-',
    '{"name":',
    '{"name":{}}',
    '{"name":[]}',
    '{"name":1e999}',
    '{"name":"\\ud800"}',
  ],
  ...[
    '{"__proto__":{"name":"x"}}',
    '{"constructor":{"prototype":1}}',
    '{"name":"a","name":5}',
    '\ufeff{}',
    '{}{}',
    "{'name':'a'}",
    '{"name":"\u0000"}',
  ],
  ...[
    '{"wallets":null}',
    '{"wallets":[]}',
    '{"wallets":{}}',
    '{"wallets":["x"]}',
    '{"wallets":[null,1,{},[]]}',
    `{"wallets":["${WALLET}"]}`,
  ],
  `{"wallets":[${`"${WALLET}",`.repeat(300)}"${WALLET}"]}`,
  ...[
    '['.repeat(8_000),
    `${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`,
    `{"name":"${'x'.repeat(20_000)}"}`,
    'a=b&c=d',
    '<xml/>',
  ],
  ...[
    Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
    Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]),
    Buffer.alloc(3_000),
  ],
];
const ENCODINGS: readonly string[] = [
  'gzip',
  'deflate',
  'br',
  'zstd',
  'identity',
  'gzip, gzip',
  'nonsense',
  '',
  'GZIP',
  '\u00ff',
];
const RAW: readonly string[] = [
  ...[
    '\r\n',
    '\n\n',
    '\0',
    'GET',
    'GET /',
    'GET / HTTP/1.1',
    'GET / HTTP/1.1\r\n',
    'GET / HTTP/1.1\r\nHost: localhost\r\n',
    'GET / HTTP/9.9\r\n\r\n',
  ],
  ...[
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'GET /\r\n\r\n',
    'GET / HTTP/1.1\nHost: localhost\n\n',
    ' GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ],
  ...[
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ],
  ...[
    'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'G\u0000T / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ],
  ...[
    'M-SEARCH * HTTP/1.1\r\nHost: localhost\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    'SSH-2.0-x\r\n',
    'EHLO x\r\n',
  ],
  ...[
    'Content-Length: -1',
    'Content-Length: 1e3',
    'Content-Length: 5, 6',
    'Content-Length: 99999999999999999999',
    'Content-Length: 5\r\nContent-Length: 6',
  ].map((header) => `POST /v1/keys HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n{}`),
  ...[
    '5\r\nab',
    'zz\r\n{}\r\n0\r\n\r\n',
    '-1\r\n\r\n',
    'ffffffffffffffff1\r\n',
    '2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n',
    '2\r\n{}3\r\n',
    `1;${'x'.repeat(20_000)}\r\n`,
  ].map(
    (chunks) =>
      `POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  ),
  'POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v3/trades HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}',
  'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  `${'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50)}`,
];

/** Hostile requests without end, the same for the same random numbers. `routes` are those of the server, `key` opens it. */
export function* hostileInputs(
  random: Random,
  routes: readonly (Pick<Route, 'method' | 'path' | 'query' | 'body'> & Partial<Pick<Route, 'aliases'>>)[],
  key: () => string,
): Generator<HostileInput, never> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const chance = (share: number) => random() < share;
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
  const value = () =>
    chance(0.1)
      ? [...noise(1 + Math.floor(random() * 40))].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      : pick(VALUES);

  const request = (
    kind: string,
    line: { method: string; target: string },
    options: { host?: string; headers?: readonly string[]; body?: Buffer; declared?: number } = {},
  ): HostileInput => {
    const { host = 'localhost', headers = [], body = Buffer.alloc(0), declared = body.length } = options;
    const length = body.length > 0 || declared !== body.length ? [`Content-Length: ${declared}`] : [];
    const own = chance(0.8) ? [`X-Api-Key: ${key()}`] : [];
    const head = [
      `${line.method} ${line.target} HTTP/1.1`,
      `Host: ${host}`,
      ...own,
      ...headers,
      ...length,
      '',
      '',
    ].join('\r\n');
    const bytes = Buffer.concat([Buffer.from(head, chance(0.5) ? 'latin1' : 'utf8'), body]);
    return { kind, bytes, mayStayUnanswered: declared > body.length || headers.length > 0 };
  };
  const targetOf = (route: (typeof routes)[number], hostileParams: boolean): string => {
    const path = route.path.replace(/\{\w+\}/g, () =>
      hostileParams ? value() : pick([WALLET, '1', 'btc', `0x${'a'.repeat(64)}`]),
    );
    const declared = [...Object.keys(route.query?.shape ?? {}), ...Object.keys(route.aliases ?? {})];
    // One unknown name rejects the whole query, so they are rare and most requests get past that check.
    const name = () => pick(declared.length > 0 && chance(0.95) ? declared : NAMES);
    const query = Array.from({ length: Math.floor(random() * 5) }, () => `${name()}=${value()}`);
    return `${path}${query.length === 0 ? '' : `?${query.join('&')}`}`.replace(/[\r\n ]/g, '%20');
  };

  for (;;) {
    const route = pick(routes);
    const method = chance(0.95)
      ? route.method.toUpperCase()
      : pick(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'QUERY']);
    const choice = random();
    if (choice < 0.15) {
      const target = chance(0.6)
        ? pick(PATHS)
        : `/${noise(1 + Math.floor(random() * 60))
            .toString('latin1')
            .replace(/[\r\n ?]/g, '')}`;
      yield { ...request('path', { method, target }), mayStayUnanswered: true };
    } else if (choice < 0.3) yield request('path parameter', { method, target: targetOf(route, true) });
    else if (choice < 0.6) yield request('query', { method, target: targetOf(route, false) });
    else if (choice < 0.7) {
      yield request('header', { method, target: targetOf(route, false) }, { headers: [pick(HEADERS), pick(HEADERS)] });
    } else if (choice < 0.75) yield request('host', { method, target: targetOf(route, false) }, { host: pick(HOSTS) });
    else if (choice < 0.88) {
      const posts = routes.filter((candidate) => candidate.body !== null);
      const target = targetOf(chance(0.9) && posts.length > 0 ? pick(posts) : route, false);
      const chosen = pick(BODIES);
      const plain = typeof chosen === 'string' ? Buffer.from(chosen) : chosen;
      const zipped = chance(0.3);
      const body = zipped && chance(0.5) ? gzipSync(chance(0.1) ? Buffer.alloc(2_000_000, '{') : plain) : plain;
      const type = chance(0.85)
        ? 'application/json'
        : pick(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'x/y']);
      const headers = [`Content-Type: ${type}`, ...(zipped ? [`Content-Encoding: ${pick(ENCODINGS)}`] : [])];
      yield request(
        'body',
        { method: 'POST', target },
        { headers, body, ...(chance(0.05) ? { declared: body.length + 10 } : {}) },
      );
    } else {
      const chosen = chance(0.7) ? Buffer.from(pick(RAW), 'latin1') : noise(1 + Math.floor(random() * 400));
      const cut = chance(0.3) ? chosen.subarray(0, Math.floor(random() * chosen.length)) : chosen;
      yield { kind: 'raw', bytes: cut, mayStayUnanswered: true };
    }
  }
}
