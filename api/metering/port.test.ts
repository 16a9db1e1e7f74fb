import { expect, it } from 'vitest';
import { isBillable } from './port.js';

it.each([
  [200, true],
  [201, true],
  [304, true],
  [400, true],
  [404, true],
  [409, true],
  [413, true],
  [422, true],
  [401, false],
  [402, false],
  [403, false],
  [429, false],
  [500, false],
  [502, false],
  [503, false],
])('isBillable: a response with status %s is billed: %s', (status, billed) => expect(isBillable(status)).toBe(billed));
