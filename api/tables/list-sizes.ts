/** Parameters of an aggregate function cannot be bound: statements use only these constants. */
const sizes = [1, 50, 100, 250, 500, 1_000] as const;

/** The smallest of the sizes that is at least `rows`, or the largest. */
export const listSize = (rows: number): (typeof sizes)[number] => sizes.find((size) => size >= rows) ?? 1_000;
