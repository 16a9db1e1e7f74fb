import { clientMessages } from '../../schemas/socket/client.js';
import { controlFrames } from '../../schemas/socket/control.js';
import { eventFrames } from '../../schemas/socket/frames.js';
import { orderBookChannel, orderBookMessages, orderBookOperations, orderBookSchemas } from './order-book.js';
import { type Json, jsonSchema, message, messageRef, ref, schemaRef } from './parts.js';

const channelMessage = (name: string): Json => ref(`channels/events/messages/${name}`);

/** Any of the places of the key. */
const keySecurity = ['key', 'header', 'bearer'].map((name) => ref(`components/securitySchemes/${name}`));
const anyEvent = { oneOf: Object.keys(eventFrames).map(schemaRef) };

function schemas(): Json {
  const server = Object.entries({ ...eventFrames, ...controlFrames }).map(([name, schema]) => [
    name,
    jsonSchema(schema, 'output'),
  ]);
  const client = Object.entries(clientMessages).map(([name, schema]) => [name, jsonSchema(schema, 'input')]);
  const all = Object.fromEntries([...server, ...client]) as Record<string, { properties: Record<string, Json> }>;
  // Each event frame is defined once: the snapshot refers to the definitions.
  const events = all.snapshot?.properties.events;
  if (events !== undefined) Object.assign(events, { items: anyEvent });
  return all;
}

/** AsyncAPI 3 document of the event socket and the order-book socket, derived from the schemas that validate its frames. `host` as in `127.0.0.1:8081`. */
export function asyncApiDocument(options: {
  host: string;
  protocol: 'ws' | 'wss';
  orderBook: { readonly host: string; readonly protocol: 'ws' | 'wss' };
  version: string;
}): Json {
  const all = { ...eventFrames, ...controlFrames, ...clientMessages };
  const events = Object.keys(eventFrames);
  const receives = (name: string, replies: readonly string[], summary: string): Json => ({
    action: 'receive',
    channel: ref('channels/events'),
    summary,
    messages: [channelMessage(name)],
    ...(replies.length === 0
      ? {}
      : { reply: { channel: ref('channels/events'), messages: replies.map(channelMessage) } }),
  });
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Oddstream sockets',
      version: options.version,
      description:
        'Settlements, trades, positions, resolutions, blocks and oracle prices as they happen. One connection carries any number of subscriptions; frames are JSON, one object per message, and may gain fields.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      events: {
        host: options.host,
        protocol: options.protocol,
        description:
          'A missing or malformed key is rejected with HTTP 401, an inactive one with 403, too many connections with 429.',
        security: keySecurity,
      },
      books: {
        ...options.orderBook,
        description: 'Keys are rejected as by the event socket; connections and the free hour are counted apart.',
        security: keySecurity,
      },
    },
    channels: {
      books: orderBookChannel(),
      events: {
        address: '/ws',
        title: 'Events',
        description:
          'Text frames are JSON. With compress=zlib events come as binary frames of raw DEFLATE (RFC 1951), one stream per message; control frames stay text.',
        servers: [ref('servers/events')],
        messages: Object.fromEntries(Object.keys(all).map((name) => [name, messageRef(name)])),
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                key: { type: 'string', description: 'API key, unless a header has it.' },
                heartbeat_interval: {
                  type: 'integer',
                  minimum: 5,
                  maximum: 60,
                  default: 30,
                  description: 'Seconds between heartbeats.',
                },
                notices: { type: 'string', enum: ['0', '1'], description: 'Send notice, caught_up and fell_behind.' },
                compress: { type: 'string', enum: ['zlib'], description: 'Compress events.' },
              },
            },
            bindingVersion: '0.1.0',
          },
        },
      },
    },
    operations: {
      ...orderBookOperations(),
      subscribe: receives('subscribe', ['subscribed', 'snapshot', 'error'], 'Add a subscription.'),
      update: receives('update', ['updated', 'error'], 'Change the filters of a subscription.'),
      unsubscribe: receives('unsubscribe', ['unsubscribed', 'error'], 'End one subscription, or all.'),
      ping: receives('ping', ['pong'], 'Request a pong.'),
      event: {
        action: 'send',
        channel: ref('channels/events'),
        summary: 'Events that match the subscription.',
        messages: events.map(channelMessage),
      },
      heartbeat: {
        action: 'send',
        channel: ref('channels/events'),
        summary: 'Every 30 seconds, or heartbeat_interval.',
        messages: [channelMessage('heartbeat')],
      },
      notice: {
        action: 'send',
        channel: ref('channels/events'),
        summary: 'State of sources and subscriptions, for clients with notices=1.',
        messages: ['notice', 'caught_up', 'fell_behind'].map(channelMessage),
      },
      marker: {
        action: 'send',
        channel: ref('channels/events'),
        summary: 'Positions in the stream that a subscription requested.',
        messages: ['skipped', 'end_of_block', 'end_of_window'].map(channelMessage),
      },
    },
    components: {
      securitySchemes: {
        key: { type: 'httpApiKey', name: 'key', in: 'query', description: 'The same key as REST.' },
        header: {
          type: 'httpApiKey',
          name: 'x-api-key',
          in: 'header',
          description: 'Takes precedence over the query.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'Takes precedence over the query.' },
      },
      messages: {
        ...Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, message(name, schema)])),
        ...orderBookMessages(),
      },
      schemas: { ...schemas(), ...orderBookSchemas() },
    },
  };
}
