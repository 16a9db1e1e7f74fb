import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Product } from './product.js';

const run = promisify(execFile);

/** A user of a running product. */
export interface ProductUser {
  readonly cookie: string;
  readonly csrf: string;
  get<T>(path: string, api?: string): Promise<T>;
  /** Response of a request that must answer 201. */
  post<T>(path: string, body: unknown, api?: string): Promise<T>;
}

/** Runs `npm run admin` on the log of a product; resolves with what it prints. */
export const adminOf =
  (product: Product, env: Record<string, string> = {}) =>
  async (...args: string[]): Promise<string> => {
    const options = { env: { ...process.env, ...env, ODDSTREAM_DATA: product.dataDir } };
    return (await run(process.execPath, ['dist/infra/admin/main.js', ...args], options)).stdout;
  };

/** Creates a user by a link of `npm run admin`. */
export async function signInAtProduct(
  product: Product,
  admin: ReturnType<typeof adminOf>,
  email: string,
): Promise<ProductUser> {
  const token = new URL((await admin('sign-in-link', email)).trim()).hash.slice(1);
  const json = { 'content-type': 'application/json' };
  const response = await fetch(`${product.api}/v1/auth/use-link`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ token }),
  });
  expect(response.status).toBe(200);
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { csrf_token: csrf } = (await response.json()) as { csrf_token: string };
  return {
    cookie,
    csrf,
    get: async <T>(path: string, api = product.api) =>
      (await (await fetch(api + path, { headers: { cookie } })).json()) as T,
    post: async <T>(path: string, body: unknown, api = product.api) => {
      const headers = { ...json, cookie, 'x-csrf-token': csrf };
      const reply = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([path, reply.status]).toEqual([path, 201]);
      return (await reply.json()) as T;
    },
  };
}
