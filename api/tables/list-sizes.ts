/** A parameter of an aggregate function can be no bound one: sizes of lists are of this choice, and reach a statement from here alone. */
const sizes = [1, 50, 100, 250, 500, 1_000] as const;

/** The smallest size of a list that holds so many, or the largest there is. */
export const listSize = (rows: number): (typeof sizes)[number] => sizes.find((size) => size >= rows) ?? 1_000;
