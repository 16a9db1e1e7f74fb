import { createServer } from 'node:net';

/** A TCP server that discards what it reads. Sends its port to the parent. */
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.resume();
}).listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : 0);
});
