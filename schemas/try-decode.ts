import { type AnyEvent, type Codec, CodecError } from './codec.js';

/** Decodes a record. When it cannot be decoded, calls `unreadable` with the reason and returns undefined. */
export function tryDecode(
  codec: Pick<Codec, 'decode'>,
  bytes: Buffer,
  unreadable: (reason: string) => void,
): AnyEvent | undefined {
  try {
    return codec.decode(bytes);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    unreadable(error.message);
    return undefined;
  }
}
