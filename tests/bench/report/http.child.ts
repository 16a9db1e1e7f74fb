import { createServer } from 'node:http';

/** Baseline of REST requests: Node's HTTP server with one constant JSON response of as many bytes as argv says. Sends its port to the parent. */
const body = JSON.stringify({ pad: 'x'.repeat(Math.max(0, Number(process.argv[2]) - 10)) });
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}).listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : 0);
});
