import { describe, it } from 'vitest';
import { startTestRegistry, whyNoRegistry } from '../support/schema-registry.js';
import { describeRegistry } from './registry-suite.js';

const missing = await whyNoRegistry();

if (missing !== null) {
  describe('schema registry', () => {
    it('runs against a real registry', ({ skip }) => {
      console.warn(`Not run here: ${missing}. In CI it must run.`);
      skip(missing);
    });
  });
} else {
  describeRegistry('schema registry', startTestRegistry);
}
