import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './password-hasher.js';

const EMAIL_ERROR = 'Invalid email. Use name@host.';

/** An email, trimmed and in lower case. */
export const emailField = z
  .string({ error: EMAIL_ERROR })
  .max(254, EMAIL_ERROR)
  .transform((text) => text.trim().toLowerCase())
  .pipe(z.email(EMAIL_ERROR));

/** A password that is set. */
export const newPasswordField = z
  .string({ error: 'Invalid password. Use a string.' })
  .min(MIN_PASSWORD_LENGTH, `Invalid password. Use at least ${MIN_PASSWORD_LENGTH} characters.`)
  .max(MAX_PASSWORD_LENGTH, `Invalid password. Use at most ${MAX_PASSWORD_LENGTH} characters.`);

/** A password that is compared: its length reveals nothing about the user's password. */
export const passwordField = z
  .string({ error: 'Invalid password. Use a string.' })
  .max(MAX_PASSWORD_LENGTH, `Invalid password. Use at most ${MAX_PASSWORD_LENGTH} characters.`);

export const BODY_ERROR = 'Request body must be a JSON object.';

const MAX_SHOWN_NAME = 80;

/** Body of a route of signing in. Other fields are rejected: one that is ignored, such as a password, seems to have an effect. */
export const signInBody = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown field '${issue.keys[0]?.slice(0, MAX_SHOWN_NAME)}'. Use ${Object.keys(shape).join(', ')}`
        : BODY_ERROR,
  });
