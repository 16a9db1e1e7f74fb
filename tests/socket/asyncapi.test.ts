import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, it } from 'vitest';
import { asyncApiDocument } from '../../api/asyncapi/document.js';
import { recordedStream } from '../support/recorded-stream.js';

type Json = Record<string, unknown>;

const document = JSON.parse(
  JSON.stringify(
    asyncApiDocument({
      host: '127.0.0.1:8081',
      protocol: 'ws',
      orderBook: { host: '127.0.0.1:8082', protocol: 'ws' },
      version: '1.0.0',
    }),
  ),
) as Json & { components: { schemas: Record<string, Json>; messages: Record<string, Json> } };

/** Every `$ref` in the document, with its path. */
function* refs(node: unknown, path = '#'): Generator<[string, string]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref' && typeof value === 'string') yield [path, value];
    else yield* refs(value, `${path}/${key}`);
  }
}

const resolve = (pointer: string): unknown =>
  pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);

describe('AsyncAPI document', () => {
  it('is valid under the AsyncAPI 3 schema', () => {
    const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as Json;
    const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false });
    const validate = ajv.compile(schema);
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
    expect(validate({ ...document, channels: { events: { address: 7 } } })).toBe(false);
  });

  it('has no dangling $ref and no unused schema', () => {
    const used = new Set<string>();
    for (const [path, ref] of refs(document)) {
      expect(resolve(ref), `${path} -> ${ref}`).toBeDefined();
      used.add(ref);
    }
    for (const name of Object.keys(document.components.schemas)) expect(used).toContain(`#/components/schemas/${name}`);
  });

  it('validates frames of the recorded stream, also with additional fields, and rejects a frame without seq', async () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $id: 'doc' });
    const validators = new Map<string, ValidateFunction>();
    const validatorOf = (kind: string) => {
      const found = validators.get(kind) ?? ajv.compile({ $ref: `doc#/components/schemas/${kind}` });
      validators.set(kind, found);
      return found;
    };
    const from = Date.UTC(2026, 10, 21, 15, 4, 0);
    for (const event of await recordedStream(from, from + 2 * 60_000)) {
      const validate = validatorOf(event.kind);
      const frame = JSON.parse(event.frame) as Json & { data: Json };
      expect(validate(frame), JSON.stringify([validate.errors, frame])).toBe(true);
      expect(validate({ ...frame, later: 1, data: { ...frame.data, later: [1] } })).toBe(true);
      const { seq: _, ...rest } = frame;
      expect(validate(rest)).toBe(false);
    }
    expect(validators.size).toBeGreaterThan(6);
  });
});
