import { expect, it } from 'vitest';
import { parseSoakArguments } from './arguments.js';

it('soak arguments have defaults, and values outside their range are rejected with one sentence', () => {
  expect(parseSoakArguments([])).toEqual({ minutes: 60, rate: 460, killEveryS: 60, seed: 1, wallets: 2_000 });
  expect(parseSoakArguments(['--minutes', '2', '--rate', '100', '--kill-every', '0'])).toMatchObject({
    minutes: 2,
    rate: 100,
    killEveryS: 0,
  });
  expect(() => parseSoakArguments(['--rate', '5000'])).toThrow('--rate must be a number from 1 to 490');
  expect(() => parseSoakArguments(['--minutes', 'x'])).toThrow('--minutes must be a number from 0.5 to 10000');
  expect(() => parseSoakArguments(['--hours', '1'])).toThrow("Unknown option '--hours'");
});
