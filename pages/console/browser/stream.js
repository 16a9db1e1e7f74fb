// One subscription over one connection that reconnects, and meters of what it receives. Uses no DOM.

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const PING_MS = 30_000;
/** The server sends a heartbeat every 30 s at most, so a connection that is silent for longer has lost its peer. */
const SILENT_MS = 35_000;
const SILENCE_CHECK_MS = 1000;
/** Close codes after which a reconnect is useless: allowance or session time used up, key no longer valid, more connections than the plan has. */
const FINAL_CODES = new Set([4402, 4403, 4409, 4429]);
/** Errors that say that the events after the last one are not there; a subscription without since_seq is. */
const LOST_CODES = new Set(['since_seq_unavailable', 'cursor_of_another_log']);

/** Raw DEFLATE, one stream per message. */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

const utf8 = new TextEncoder();

/**
 * Opens the socket and subscribes; after a lost or silent connection it resumes after the last event. `on.frame(frame, text)`: per event and control frame; the events
 * of a snapshot one by one. `on.bytes(n)`: per message, as received. `on.state(name, detail)`: connecting, open, waiting, closed. `further`: messages sent
 * after it, which do not resume. `on.missed()`, optional: events after the last one will not come, as they are older than the plan or the log allows.
 */
export function openStream({ url, message, further = [], on }) {
  let socket = null;
  /** The log that `lastSeq` belongs to. */
  let epoch;
  let lastSeq = 0;
  let waitMs = FIRST_WAIT_MS;
  let timer;
  let pings;
  let silence;
  let opened = false;
  /** The subscription that is acknowledged next resumes. */
  let resumes = false;
  /** Keeps messages in order while some are being decompressed. */
  let queue = Promise.resolve();

  const subscribe = () => {
    resumes = lastSeq > 0 && message.type !== 'chainlink';
    const cursor = epoch === undefined ? lastSeq : `${epoch}:${lastSeq}`;
    // The server warns of a since beside since_seq, as if events were missing.
    const filters = resumes ? { ...message.filters, since: undefined, since_seq: cursor } : message.filters;
    socket.send(JSON.stringify({ ...message, filters }));
  };
  const handle = (text) => {
    const frame = JSON.parse(text);
    let isBehind = false;
    if (frame.type === 'subscribed') {
      waitMs = FIRST_WAIT_MS;
      epoch = frame.epoch;
      isBehind = resumes && frame.warnings?.length > 0;
      // Acknowledgements of the further messages follow.
      resumes = false;
    }
    if (frame.type === 'error' && LOST_CODES.has(frame.code) && lastSeq > 0) {
      epoch = undefined;
      lastSeq = 0;
      subscribe();
      isBehind = true;
    }
    const events = frame.type === 'snapshot' ? frame.events : null;
    if (events === null) {
      if (frame.seq !== undefined) lastSeq = Math.max(lastSeq, frame.seq);
      on.frame(frame, text);
      if (isBehind) on.missed?.();
      // No subscription is active then. A connection that was left has no handlers.
      if (frame.type === 'error' && frame.code === 'unavailable' && socket.onclose !== null)
        reconnect(`${frame.code}: ${frame.message}`);
      return;
    }
    on.frame({ type: 'snapshot', count: frame.count }, JSON.stringify({ type: 'snapshot', count: frame.count }));
    for (const event of events) {
      if (event.seq !== undefined) lastSeq = Math.max(lastSeq, event.seq);
      on.frame(event, JSON.stringify(event));
    }
  };

  /** Ends the current connection without waiting for its close event: with a peer that is gone it may come minutes later. */
  const leave = () => {
    clearInterval(pings);
    clearInterval(silence);
    socket.onmessage = socket.onclose = socket.onopen = null;
    socket.close(1000);
  };
  const reconnect = (detail) => {
    leave();
    on.state('waiting', detail);
    timer = setTimeout(connect, waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  };

  const connect = () => {
    on.state('connecting');
    socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    let seenMs = Date.now();
    silence = setInterval(() => {
      if (Date.now() - seenMs > SILENT_MS) reconnect('the server is silent');
    }, SILENCE_CHECK_MS);
    socket.onopen = () => {
      opened = true;
      on.state('open');
      subscribe();
      for (const one of further) socket.send(JSON.stringify(one));
      pings = setInterval(() => socket.send('{"action":"ping"}'), PING_MS);
    };
    socket.onmessage = ({ data }) => {
      seenMs = Date.now();
      if (typeof data === 'string') {
        on.bytes(utf8.encode(data).length);
        queue = queue.then(() => handle(data));
      } else {
        on.bytes(data.byteLength);
        queue = queue.then(async () => handle(await inflate(data)));
      }
      queue = queue.catch((error) => on.state('open', `unreadable frame: ${error.message}`));
    };
    socket.onclose = ({ code, reason }) => {
      if (!opened || FINAL_CODES.has(code)) {
        leave();
        on.state('closed', opened ? `${code} ${reason}` : 'rejected');
        return;
      }
      reconnect(`${code} ${reason}`.trim());
    };
  };
  connect();
  return {
    close() {
      clearTimeout(timer);
      leave();
      on.state('closed', '');
    },
  };
}

/** Measures frames and bytes per second, and the median delay over the last seconds. */
export function createMeter(now = () => performance.now()) {
  const WINDOW_MS = 3000;
  const entries = [];
  const prune = (atMs) => {
    while (entries.length > 0 && entries[0].atMs < atMs - WINDOW_MS) entries.shift();
  };
  const startedMs = now();
  return {
    add(entry) {
      entries.push({ frames: 0, bytes: 0, delayMs: null, ...entry, atMs: now() });
    },
    read() {
      const atMs = now();
      prune(atMs);
      const seconds = Math.max(1, Math.min(WINDOW_MS, atMs - startedMs) / 1000);
      const sum = (name) => entries.reduce((total, entry) => total + entry[name], 0);
      const delays = entries.flatMap((entry) => (entry.delayMs === null ? [] : [entry.delayMs])).sort((a, b) => a - b);
      return {
        framesPerSecond: sum('frames') / seconds,
        bytesPerSecond: sum('bytes') / seconds,
        delayMs: delays.length === 0 ? null : delays[Math.floor(delays.length / 2)],
      };
    },
  };
}
