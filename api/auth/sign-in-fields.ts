import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './password-hasher.js';

const EMAIL_ERROR = 'Invalid email. Use name@host.';

/** An email, trimmed and in lower case. Checked before that: the lower case of some letters beyond ASCII, such as the Kelvin sign, is an ASCII letter. */
export const emailField = z
  .string({ error: EMAIL_ERROR })
  .max(254, EMAIL_ERROR)
  .transform((text) => text.trim())
  .pipe(z.email(EMAIL_ERROR))
  .transform((text) => text.toLowerCase());

/** A password that is set. */
export const newPasswordField = z
  .string({ error: 'Invalid password. Use a string.' })
  .min(MIN_PASSWORD_LENGTH, `Invalid password. Use at least ${MIN_PASSWORD_LENGTH} characters.`)
  .max(MAX_PASSWORD_LENGTH, `Invalid password. Use at most ${MAX_PASSWORD_LENGTH} characters.`);

/** A password that is compared: its length reveals nothing about the user's password. */
export const passwordField = z
  .string({ error: 'Invalid password. Use a string.' })
  .max(MAX_PASSWORD_LENGTH, `Invalid password. Use at most ${MAX_PASSWORD_LENGTH} characters.`);
