import { expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tailStream } from '../../stream-gateway/hub/tail-stream.js';
import { eventually } from '../support/product.js';
import { createStream } from './stream.js';

it('tailStream reports events as delivered only after publish has resolved', async () => {
  const stream = await createStream();
  await stream.append({}, {}, {});
  const stop = new AbortController();
  const delivered: number[] = [];
  let publish: () => void = () => undefined;
  let publishing = 0;
  const tail = tailStream({
    log: stream.log,
    codec: createCodec(),
    lookbackEvents: 2,
    signal: stop.signal,
    load: () => undefined,
    publish: () => {
      publishing++;
      return new Promise((resolve) => {
        publish = resolve;
      });
    },
    onCaughtUp: () => undefined,
    onDelivered: (nextOffset) => delivered.push(nextOffset),
    onUnreadableEvent: () => undefined,
  });
  const end = async () => (await stream.log.bounds(topics.streamEvents.name, 0)).next;
  await eventually('the retained events', async () => delivered.at(-1) === (await end()));
  const before = await end();
  expect(delivered[0]).toBe(before - 2);
  await stream.append({}, {});
  await eventually('the call of publish', async () => publishing === 1);
  expect(delivered.at(-1)).toBe(before);
  publish();
  await eventually('delivery of the new events', async () => delivered.at(-1) === (await end()));
  stop.abort();
  await tail;
});
