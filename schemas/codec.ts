import avsc from 'avsc';
import { DecimalType, TimestampMillisType } from './logical-types.js';
import { committedSchemaIds, committedSchemas, type SchemaIds, type WriterSchema } from './registry.js';
import type { EventKind, EventTypes } from './types.gen.js';

/** A value together with its kind; narrow on `kind`. */
export type AnyEvent = { [K in EventKind]: { readonly kind: K; readonly value: EventTypes[K] } }[EventKind];
export type EventOf<K extends EventKind> = Extract<AnyEvent, { kind: K }>;

/** A record that cannot be decoded: wrong magic byte, unknown schema id, bytes that do not match the schema. */
export class CodecError extends Error {
  override name = 'CodecError';
}

export interface Codec {
  /** Confluent wire format: byte 0, big-endian 4-byte schema id, Avro binary. Throws CodecError that names the bad field. */
  encode<K extends EventKind>(kind: K, value: EventTypes[K]): Buffer;
  /** Throws CodecError. Records written with an older version are read into the newest. */
  decode(bytes: Buffer): AnyEvent;
  /** Kind of an encoded record, from its header only, so that a reader can skip kinds it does not use. Throws CodecError. */
  kindOf(bytes: Buffer): EventKind;
}

const HEADER_BYTES = 5;

/** Buffer for records of unknown length; larger ones are encoded a second time. */
const scratch = Buffer.alloc(64 * 1024);

function withHeader(body: Buffer, id: number): Buffer {
  const out = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  out[0] = 0;
  out.writeUInt32BE(id, 1);
  body.copy(out, HEADER_BYTES);
  return out;
}

/** Schema id in a record's header; null for bytes that are not in the Confluent wire format. */
export function schemaIdOf(bytes: Buffer): number | null {
  return bytes.length < HEADER_BYTES || bytes[0] !== 0 ? null : bytes.readUInt32BE(1);
}

function parseType(schema: object): avsc.Type {
  return avsc.Type.forSchema(schema as avsc.Schema, {
    logicalTypes: { decimal: DecimalType as never, 'timestamp-millis': TimestampMillisType as never },
    wrapUnions: 'auto' as never,
  });
}

/** Why this build cannot read records of that kind written with `schema`; null when it can. */
export function schemaIncompatibility(kind: EventKind, schema: object): string | null {
  const current = committedSchemas().get(kind);
  if (current === undefined) return `unknown event kind ${kind}`;
  try {
    parseType(current.schema).createResolver(parseType(schema));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Creates a codec. It parses each type once per id; encoding and decoding are synchronous. */
export function createCodec(ids: SchemaIds = committedSchemaIds()): Codec {
  const writers = new Map<EventKind, { type: avsc.Type; id: number }>();
  const readers = new Map<number, { kind: EventKind; type: avsc.Type; resolver: avsc.Resolver | undefined }>();
  const current = committedSchemas();

  const currentType = (kind: EventKind) => {
    let writer = writers.get(kind);
    if (writer === undefined) {
      const registered = current.get(kind);
      if (registered === undefined) throw new CodecError(`Unknown event kind ${kind}`);
      writer = { type: parseType(registered.schema), id: ids.idFor(kind) };
      writers.set(kind, writer);
    }
    return writer;
  };
  const resolverOf = (reader: avsc.Type, written: WriterSchema) => {
    try {
      return reader.createResolver(parseType(written.schema));
    } catch (error) {
      throw new CodecError(`Records of schema id ${written.id} (${written.kind}) cannot be read: ${String(error)}`);
    }
  };
  const readerFor = (id: number) => {
    let reader = readers.get(id);
    if (reader === undefined) {
      const written = ids.schemaFor(id);
      if (written === undefined) throw new CodecError(`Unknown schema id ${id}`);
      const current = currentType(written.kind);
      const resolver = id === current.id ? undefined : resolverOf(current.type, written);
      reader = { kind: written.kind, type: current.type, resolver };
      readers.set(id, reader);
    }
    return reader;
  };
  const readerOf = (bytes: Buffer) => {
    const id = schemaIdOf(bytes);
    if (id === null) throw new CodecError('Not in the Confluent wire format');
    return readerFor(id);
  };
  const why = (type: avsc.Type, value: unknown): string => {
    let detail = '';
    type.isValid(value, {
      errorHook: (path, bad) => {
        if (detail === '') detail = `${path.join('.')} = ${String(bad)}`;
      },
    });
    return detail;
  };

  return {
    encode(kind, value) {
      const { type, id } = currentType(kind);
      try {
        const end = type.encode(value, scratch, HEADER_BYTES);
        // A negative end is the number of missing bytes.
        if (end < 0) return withHeader(type.toBuffer(value), id);
        scratch[0] = 0;
        scratch.writeUInt32BE(id, 1);
        return Buffer.from(scratch.subarray(0, end));
      } catch (error) {
        throw new CodecError(`Not a valid ${kind}: ${why(type, value) || String(error)}`);
      }
    },
    kindOf: (bytes) => readerOf(bytes).kind,
    decode(bytes) {
      const reader = readerOf(bytes);
      try {
        const value: unknown = reader.type.fromBuffer(bytes.subarray(HEADER_BYTES), reader.resolver);
        return { kind: reader.kind, value } as AnyEvent;
      } catch (error) {
        throw new CodecError(
          `Not a readable ${reader.kind}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}
