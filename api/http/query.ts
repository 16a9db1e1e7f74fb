import type { z } from 'zod';
import { ApiError, badParameter } from '../errors/failure.js';
import { nearestOf } from './nearest.js';

/** Other name of a parameter, by the name it stands for. */
export type Aliases = Readonly<Record<string, string>>;

/** Query parameter that carries the API key; read before the route, known to every route. */
const KEY = 'key';

/** The names a route's query may hold. */
export interface QueryNames {
  readonly schema: z.ZodObject | null;
  readonly aliases: Aliases;
}

/** Throws for an alias that stands for nothing, or that has the name of a parameter: a mistake in the route. */
export function holdAliases({ schema, aliases }: QueryNames): void {
  const declared = Object.keys(schema?.shape ?? {});
  for (const [alias, main] of Object.entries(aliases)) {
    if (!declared.includes(main) || declared.includes(alias)) throw new Error(`Alias ${alias} of ${main} is wrong`);
  }
}

/** Every name in a query must be known: a misspelt filter would answer with rows of everybody. Throws ApiError. */
export function refuseUnknown({ schema, aliases }: QueryNames, query: URLSearchParams): void {
  const known = Object.keys(schema?.shape ?? {});
  const accepted = [...known, ...Object.keys(aliases), KEY];
  for (const name of query.keys()) {
    if (accepted.includes(name)) continue;
    throw new ApiError({ kind: 'unknown_parameter', name, nearest: nearestOf(name, accepted), known });
  }
}

/** A query's texts. */
export interface PickedQuery {
  /** By declared parameter, whichever name it came by. */
  readonly values: Readonly<Record<string, string>>;
  /** The alias it came by, where it came by one. */
  readonly cameBy: Readonly<Record<string, string>>;
}

/** Text of each declared parameter. Throws ApiError for two texts of one. */
export function pickQuery({ schema, aliases }: QueryNames, query: URLSearchParams): PickedQuery {
  const values: Record<string, string> = {};
  const cameBy: Record<string, string> = {};
  if (schema === null) return { values, cameBy };
  for (const [name, field] of Object.entries(schema.shape)) {
    const names = [name, ...Object.keys(aliases).filter((alias) => aliases[alias] === name)];
    const given = names.flatMap((one) => query.getAll(one).map((text) => ({ one, text })));
    for (const { one } of given) {
      if (query.getAll(one).length > 1) throw badParameter(`Query parameter '${one}' must be given once`);
    }
    const [first, ...others] = given;
    if (first === undefined) continue;
    const other = others.find(({ text }) => !sameValue(field as z.ZodType, first.text, text));
    if (other !== undefined) {
      throw badParameter(`Query parameters '${first.one}' and '${other.one}' are the same and differ: give one`);
    }
    values[name] = first.text;
    if (first.one !== name) cameBy[name] = first.one;
  }
  return { values, cameBy };
}

/** Whether two texts say the same: `0100` and `100`, two letter cases of a hash. */
function sameValue(field: z.ZodType, one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [field.safeParse(one), field.safeParse(other)];
  return left.success && right.success && String(left.data) === String(right.data);
}
