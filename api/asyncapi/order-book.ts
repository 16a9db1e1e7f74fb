import { orderBookClientMessages, orderBookFrames } from '../../schemas/order-book/socket.js';
import { type Json, jsonSchema, message, messageRef, ref } from './parts.js';

const all = { ...orderBookFrames, ...orderBookClientMessages };
const channelMessage = (name: string): Json => ref(`channels/books/messages/${name}`);

export const orderBookSchemas = (): Json =>
  Object.fromEntries([
    ...Object.entries(orderBookFrames).map(([name, schema]) => [name, jsonSchema(schema, 'output')]),
    ...Object.entries(orderBookClientMessages).map(([name, schema]) => [name, jsonSchema(schema, 'input')]),
  ]);

export const orderBookMessages = (): Json =>
  Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, message(name, schema)]));

export const orderBookChannel = (): Json => ({
  address: '/ws',
  title: 'Order books',
  description:
    'Text frames are JSON. With compress=zlib books and batches come as binary frames of raw DEFLATE (RFC 1951), one stream per message; control frames stay text.',
  servers: [ref('servers/books')],
  messages: Object.fromEntries(Object.keys(all).map((name) => [name, messageRef(name)])),
  bindings: {
    ws: {
      method: 'GET',
      query: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'API key, unless a header has it.' },
          compress: { type: 'string', enum: ['zlib'], description: 'Compress books and batches.' },
          integrity: { type: 'string', enum: ['0', '1'], description: 'Checksums of every book, at most 500 tokens.' },
        },
      },
      bindingVersion: '0.1.0',
    },
  },
});

/** Operations of the order-book socket, by their names in the document. */
export function orderBookOperations(): Json {
  const receives = (name: string, replies: readonly string[], summary: string): Json => ({
    action: 'receive',
    channel: ref('channels/books'),
    summary,
    messages: [channelMessage(name)],
    reply: { channel: ref('channels/books'), messages: replies.map(channelMessage) },
  });
  const books = ['snapshot_batch', 'book_snapshot', 'snapshots_done', 'book_error'];
  return {
    subscribeBooks: receives('book_subscribe', ['book_subscribed', ...books], 'Replace the subscription.'),
    unsubscribeBooks: receives(
      'book_unsubscribe',
      ['book_unsubscribed', 'book_error'],
      'End it, or some markets of it.',
    ),
    resyncBooks: receives('resync', ['resyncing', ...books], 'Request fresh books.'),
    pingBooks: receives('book_ping', ['book_pong'], 'Request a pong.'),
    batch: {
      action: 'send',
      channel: ref('channels/books'),
      summary: 'What has changed, every 250 ms.',
      messages: [channelMessage('batch')],
    },
  };
}
