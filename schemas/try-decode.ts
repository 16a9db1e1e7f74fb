import { type AnyEvent, type Codec, CodecError } from './codec.js';

/** The event of a record, or undefined after `unreadable` was told why there is none. */
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
