import { z } from 'zod';

const MAX_LENGTH = 100;
/** Control characters, half characters, which no text can store, and marks that turn the direction of the text around a name. */
const UNUSABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Name of a key, as its owner writes it, trimmed. */
export const keyName = z
  .string({ error: 'Invalid name. Use a string.' })
  .trim()
  .max(MAX_LENGTH, `Invalid name. Max ${MAX_LENGTH} characters.`)
  .refine((text) => !UNUSABLE.test(text), 'Invalid name. Control characters are not allowed.');
