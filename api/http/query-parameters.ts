import type { z } from 'zod';
import { ApiError, badParameter } from '../errors/failure.js';
import { nearestName } from './nearest-name.js';

/** Parameter names by alias. */
export type Aliases = Readonly<Record<string, string>>;

/** Query parameter with the API key; read before the route handler and accepted by every route. */
const API_KEY_PARAMETER = 'key';

/** The names that a route's query may contain. */
export interface QueryDeclaration {
  readonly schema: z.ZodObject | null;
  readonly aliases: Aliases;
}

/** Throws for an alias of an undeclared parameter, or one that equals a declared parameter: an error in the route's declaration. */
export function validateAliases({ schema, aliases }: QueryDeclaration): void {
  const declared = Object.keys(schema?.shape ?? {});
  for (const [alias, main] of Object.entries(aliases)) {
    if (!declared.includes(main) || declared.includes(alias)) throw new Error(`Alias ${alias} of ${main} is wrong`);
  }
}

/** Rejects unknown names: a misspelt filter would otherwise return unfiltered rows. Throws ApiError. */
export function rejectUnknownParameters({ schema, aliases }: QueryDeclaration, query: URLSearchParams): void {
  const known = Object.keys(schema?.shape ?? {});
  const accepted = [...known, ...Object.keys(aliases), API_KEY_PARAMETER];
  for (const name of query.keys()) {
    if (accepted.includes(name)) continue;
    throw new ApiError({ kind: 'unknown_parameter', name, nearest: nearestName(name, accepted), known });
  }
}

/** Text values of a query. */
export interface QueryTexts {
  /** By declared parameter, also where the request used an alias. */
  readonly values: Readonly<Record<string, string>>;
  /** Alias used in the request, by declared parameter. */
  readonly usedAliases: Readonly<Record<string, string>>;
}

/** Text of each declared parameter. Throws ApiError if a parameter has two different values. */
export function readQueryTexts({ schema, aliases }: QueryDeclaration, query: URLSearchParams): QueryTexts {
  const values: Record<string, string> = {};
  const usedAliases: Record<string, string> = {};
  if (schema === null) return { values, usedAliases };
  for (const [name, field] of Object.entries(schema.shape)) {
    const names = [name, ...Object.keys(aliases).filter((alias) => aliases[alias] === name)];
    const given = names.flatMap((one) => query.getAll(one).map((text) => ({ one, text })));
    for (const { one } of given) {
      if (query.getAll(one).length > 1) throw badParameter(`Query parameter '${one}' must be given once`);
    }
    const [first, ...rest] = given;
    if (first === undefined) continue;
    const other = rest.find(({ text }) => !isSameValue(field as z.ZodType, first.text, text));
    if (other !== undefined) {
      throw badParameter(`Query parameters '${first.one}' and '${other.one}' are the same and differ: give one`);
    }
    values[name] = first.text;
    if (first.one !== name) usedAliases[name] = first.one;
  }
  return { values, usedAliases };
}

/** Whether two texts parse to the same value: `0100` and `100`, a hash in two letter cases. */
function isSameValue(field: z.ZodType, one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [field.safeParse(one), field.safeParse(other)];
  return left.success && right.success && String(left.data) === String(right.data);
}
