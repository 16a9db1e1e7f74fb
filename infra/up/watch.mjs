// Minimal WebSocket subscriber: node infra/up/watch.mjs <ws url> [<subscribe message>] [--count N]
// Prints every frame as one JSON line; --count ends after N event frames.
import WebSocket from 'ws';

const args = process.argv.slice(2);
const at = args.indexOf('--count');
const limit = at === -1 ? Number.POSITIVE_INFINITY : Number(args.splice(at, 2)[1]);
const [url, message = '{"action":"subscribe","type":"trades"}'] = args;
if (url === undefined) {
  process.stderr.write('usage: node infra/up/watch.mjs <ws url> [<subscribe message>] [--count N]\n');
  process.exit(1);
}
const control = new Set([
  ...['subscribed', 'unsubscribed', 'updated', 'snapshot', 'heartbeat', 'pong', 'error', 'notice'],
  ...['caught_up', 'fell_behind', 'skipped', 'end_of_block', 'end_of_window'],
]);
let events = 0;
// The reader closed the pipe, for example `| head`.
process.stdout.on('error', () => process.exit(0));
const socket = new WebSocket(url, { perMessageDeflate: false });
socket.on('open', () => socket.send(message));
socket.on('message', (data, binary) => {
  if (binary) return;
  const text = data.toString();
  process.stdout.write(`${text}\n`);
  if (!control.has(JSON.parse(text).type) && ++events >= limit) socket.close();
});
socket.on('unexpected-response', (_request, response) => {
  let body = '';
  response.on('data', (chunk) => {
    body += chunk;
  });
  response.on('end', () => {
    process.stderr.write(`rejected: HTTP ${response.statusCode} ${body}\n`);
    process.exit(1);
  });
});
socket.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
socket.on('close', (code, reason) => {
  process.stderr.write(`closed ${code} ${reason.toString()}\n`);
});
