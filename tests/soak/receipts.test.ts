import { expect, it } from 'vitest';
import { createReceipts } from './receipts.js';

const frame = (seq: number) => JSON.stringify({ type: 'trade', seq });
const verdictOf = (received: readonly number[], log: readonly number[], skipped: readonly [number, number][] = []) => {
  const receipts = createReceipts();
  for (const seq of received) receipts.event(seq, frame(seq));
  for (const [from, to] of skipped) receipts.skipped(from, to);
  const verifier = receipts.verifier();
  for (const seq of log) verifier.expect({ seq, frame: frame(seq) });
  return verifier.finish();
};
const none = { lost: 0, doubled: 0, outOfOrder: 0, unexpected: 0, different: 0, skipped: 0 };

it('receipts equal to the log from the first event on are without a finding', () => {
  expect(verdictOf([5, 7, 9], [1, 3, 5, 7, 9])).toEqual({ delivered: 3, ...none });
});

it('receipts show lost, doubled, late and unexpected events', () => {
  expect(verdictOf([5, 9], [5, 7, 9, 11])).toEqual({ delivered: 2, ...none, lost: 2 });
  expect(verdictOf([5, 7, 7, 5, 9], [5, 7, 9])).toEqual({ delivered: 3, ...none, doubled: 2 });
  expect(verdictOf([5, 9, 7], [5, 7, 9])).toEqual({ delivered: 2, ...none, outOfOrder: 1, lost: 1 });
  expect(verdictOf([5, 6, 7], [5, 7])).toEqual({ delivered: 3, ...none, unexpected: 1 });
});

it('receipts do not count events as lost that a skipped frame names', () => {
  expect(verdictOf([5, 11], [5, 7, 9, 11], [[6, 8]])).toEqual({ delivered: 2, ...none, skipped: 1, lost: 1 });
});

it('receipts show another content than the log has', () => {
  const receipts = createReceipts();
  receipts.event(5, frame(5));
  const verifier = receipts.verifier();
  verifier.expect({ seq: 5, frame: `${frame(5)} ` });
  expect(verifier.finish()).toEqual({ delivered: 1, ...none, different: 1 });
});
