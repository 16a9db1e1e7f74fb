import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createOutcomeOrder } from './outcome-order.js';

it('returns the entries of a map oldest first, whatever is removed and put again meanwhile', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), entity: fc.nat(30).map(String) }),
    fc.record({ do: fc.constant('remove' as const), entity: fc.nat(30).map(String) }),
    fc.record({ do: fc.constant('take' as const), entity: fc.constant('') }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const values = new Map<string, object>();
      const order = createOutcomeOrder(values);
      for (const [n, { do: action, entity }] of steps.entries()) {
        if (action === 'remove') values.delete(entity);
        else if (action === 'put') {
          const value = { n };
          values.delete(entity);
          values.set(entity, value);
          order.add(entity, value);
        } else {
          // A map is in the order of its insertions.
          const [expected] = values;
          const first = order.first();
          expect(first === undefined ? undefined : [first.entity, first.value]).toEqual(expected);
          if (first === undefined) continue;
          order.removeFirst();
          values.delete(first.entity);
        }
      }
    }),
  );
});

it('stays in order over many times the length at which it is cut', () => {
  const values = new Map<string, number>();
  const order = createOutcomeOrder(values);
  for (let n = 0; n < 50_000; n += 1) {
    values.set(String(n), n);
    order.add(String(n), n);
    if (n < 100) continue;
    expect(order.first()?.value).toBe(n - 100);
    order.removeFirst();
    values.delete(String(n - 100));
  }
  expect(values.size).toBe(100);
  for (let n = 49_900; n < 50_000; n += 1) {
    expect(order.first()?.value).toBe(n);
    order.removeFirst();
  }
  expect(order.first()).toBeUndefined();
});
