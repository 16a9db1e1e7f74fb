import { onTestFinished } from 'vitest';
import { startTestGateway } from './testing.js';

/** A gateway that is closed at the end of the test. */
export async function gateway(over: Parameters<typeof startTestGateway>[0] = {}) {
  const started = await startTestGateway(over);
  onTestFinished(() => started.server.close());
  return started;
}
