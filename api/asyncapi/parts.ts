import { z } from 'zod';

export type Json = Readonly<Record<string, unknown>>;

export const ref = (path: string): Json => ({ $ref: `#/${path}` });
export const schemaRef = (name: string): Json => ref(`components/schemas/${name}`);
export const messageRef = (name: string): Json => ref(`components/messages/${name}`);

/** JSON Schema draft 7, which AsyncAPI embeds unchanged. Fields may be added later, so additional properties are not forbidden. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema: converted }) => {
      if (converted.additionalProperties === false) delete converted.additionalProperties;
    },
  });
  return rest;
}

/** A message whose payload is the schema of that name. */
export const message = (name: string, schema: z.ZodType): Json => {
  const { title, description } = schema.meta() ?? {};
  return {
    name: title ?? name,
    title: name,
    summary: description,
    contentType: 'application/json',
    payload: schemaRef(name),
  };
};
