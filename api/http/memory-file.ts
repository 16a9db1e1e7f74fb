import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

export interface MemoryFile {
  readonly content: string | Buffer;
  readonly type: string;
  /** 0: browsers revalidate before every use. */
  readonly maxAgeS: number | ((request: Request) => number);
}

type Encoding = 'br' | 'gzip' | 'identity';
/** Smaller files fit into one network packet without compression. */
const MIN_COMPRESSED_BYTES = 1024;
const GZIP_LEVEL = 9;
/** Higher levels take seconds for the largest file and save only a few percent. */
const BROTLI_QUALITY = 6;

/**
 * Creates a handler that sends a file from memory, compressed once per encoding at the first request. The ETag is a hash of content and encoding. A matching
 * `If-None-Match` returns 304, a failed `If-Match` 412; a Range request returns the whole file.
 */
export function createMemoryFile(file: MemoryFile): (request: Request, response: Response) => Promise<void> {
  const identity = Buffer.from(file.content);
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  const packed = new Map<Encoding, Promise<Buffer>>();
  const bytesIn = (encoding: Encoding): Promise<Buffer> => {
    const found = packed.get(encoding) ?? compress(identity, encoding);
    packed.set(encoding, found);
    return found;
  };
  return async (request, response) => {
    const encoding = encodingFor(request, identity.length);
    const tag = `"${hash}-${encoding}"`;
    response.setHeader('vary', 'accept-encoding');
    response.setHeader('etag', tag);
    const maxAgeS = typeof file.maxAgeS === 'number' ? file.maxAgeS : file.maxAgeS(request);
    response.setHeader('cache-control', maxAgeS === 0 ? 'no-cache' : `public, max-age=${maxAgeS}`);
    const match = request.headers['if-match'];
    if (match !== undefined && !matchesEtag(match, tag))
      throw Object.assign(new Error('If-Match failed'), { status: 412 });
    if (matchesEtag(request.headers['if-none-match'] ?? '', tag)) {
      response.status(304).end();
      return;
    }
    const bytes = await bytesIn(encoding);
    response.setHeader('content-type', file.type);
    if (encoding !== 'identity') response.setHeader('content-encoding', encoding);
    response.setHeader('content-length', String(bytes.length));
    if (request.method === 'HEAD') response.end();
    else response.end(bytes);
  };
}

function encodingFor(request: Request, bytes: number): Encoding {
  if (bytes < MIN_COMPRESSED_BYTES || request.headers['accept-encoding'] === undefined) return 'identity';
  // Server preference: clients list gzip first, but brotli is smaller.
  return (['br', 'gzip'] as const).find((encoding) => request.acceptsEncodings(encoding) === encoding) ?? 'identity';
}

function matchesEtag(header: string, tag: string): boolean {
  return header
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''))
    .some((entry) => entry === tag || entry === '*');
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(bytes, { level: GZIP_LEVEL });
  if (encoding === 'identity') return Promise.resolve(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return promisify(brotliCompress)(bytes, { params });
}
