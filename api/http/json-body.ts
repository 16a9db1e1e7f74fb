import { z } from 'zod';

const BODY_ERROR = 'Request body must be a JSON object.';

const MAX_SHOWN_NAME = 80;

/** Error texts of a body; `advice` lists the known fields. */
interface BodyErrors {
  readonly notAnObject: string;
  readonly unknownField: (name: string, advice: string) => string;
}

/** Texts for the API groups whose errors are sentences. */
const sentences: BodyErrors = {
  notAnObject: BODY_ERROR,
  unknownField: (name, advice) => `Unknown field '${name}'. Use ${advice}`,
};

/** JSON body of a route. Unknown fields are rejected: one that is ignored, such as a misspelt limit, seems to have an effect. */
export const jsonBody = <S extends z.ZodRawShape>(shape: S, errors: Partial<BodyErrors> = {}) => {
  const { notAnObject, unknownField } = { ...sentences, ...errors };
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownField((issue.keys[0] ?? '').slice(0, MAX_SHOWN_NAME), Object.keys(shape).join(', '))
        : notAnObject,
  });
};
