import { expect } from 'vitest';
import { eventually, type Product } from './product.js';

/**
 * Kills the victims in turn during the load of a history with `total` fills: each one when rows have been written since the kill before, or all are
 * there. Fails unless each of `required` was killed with a part of the rows in the table.
 */
export async function killDuringLoad<T extends string>(options: {
  readonly product: Pick<Product, 'sql'>;
  readonly total: number;
  readonly victims: readonly T[];
  readonly required: readonly T[];
  kill(victim: T): Promise<void>;
}): Promise<void> {
  const { product, total, victims, required, kill } = options;
  const kills: { readonly victim: T; readonly fills: number }[] = [];
  let before = -1;
  for (const victim of victims) {
    const fills = await eventually(
      `fills after ${before} of ${total}, to kill ${victim}`,
      async () => {
        const [row] = await product.sql<{ n: string }>('SELECT count() AS n FROM fills');
        const count = Number(row?.n);
        return (count > before || count >= total) && { count };
      },
      120_000,
      20,
    );
    await kill(victim);
    before = fills.count;
    kills.push({ victim, fills: before });
  }
  const during: readonly string[] = kills.filter(({ fills }) => fills > 0 && fills < total).map(({ victim }) => victim);
  expect(during, JSON.stringify(kills)).toEqual(expect.arrayContaining<string>([...required]));
}
