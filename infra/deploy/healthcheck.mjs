// Exit code 0 when a process of Oddstream responds on its admin port in this container: `node healthcheck.mjs [port ...]`.
const ports = process.argv.length > 2 ? process.argv.slice(2) : ['9101', '9102', '9103', '9104'];
const alive = await Promise.all(
  ports.map((port) =>
    fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(3000) }).then(
      (response) => response.ok,
      () => false,
    ),
  ),
);
process.exit(alive.includes(true) ? 0 : 1);
