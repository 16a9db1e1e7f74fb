// Subscribe message of the form, and code that sends it. Uses no DOM.

/** Items of a field: separated by blanks, commas or line breaks. */
const words = (text) => text.split(/[\s,]+/).filter((word) => word !== '');

/**
 * Subscribe message. `form`: type, wallets, tokens, slugs, condition_ids, side, min_size, event_types (list), snapshot_count, feeds, price, more (JSON
 * text). Throws an Error with a message for the user if `more` is not a JSON object.
 */
export function subscribeMessage(form) {
  const filters = {};
  const oracle = form.type === 'chainlink';
  if (oracle) {
    if (form.feeds.length > 0) filters.feeds = form.feeds;
    if (form.price === 'spot') filters.price_source = 'spot';
    else if (form.price !== '') filters.twap_windows = form.price.split(',').map(Number);
  } else {
    for (const name of ['wallets', 'tokens', 'slugs', 'condition_ids']) {
      const list = words(form[name]);
      if (list.length > 0) filters[name] = list;
    }
    if (form.side !== '') filters.side = form.side;
    if (form.min_size !== '') filters.min_size = Number(form.min_size);
    if (form.event_types.length > 0) filters.event_types = form.event_types;
    if (form.snapshot_count !== '') filters.snapshot_count = Number(form.snapshot_count);
  }
  const more = form.more.trim();
  if (more !== '') {
    let parsed;
    try {
      parsed = JSON.parse(more);
    } catch {
      throw new Error('More filters: not valid JSON.');
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new Error('More filters: expected a JSON object such as {"max_size": 100}.');
    }
    Object.assign(filters, parsed);
  }
  return { action: 'subscribe', type: form.type, ...(Object.keys(filters).length > 0 ? { filters } : {}) };
}

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Both clients do what those of "Resume" in docs/SOCKET.md do. The one in JavaScript leaves a dead connection without waiting for its close event, which
// Node does not send before the network reports the failure.

const javascript = ({
  socket,
  message,
}) => `// Browsers and Node 22; for older Node: npm i ws, import WebSocket from 'ws'
const KEY = 'YOUR_KEY';
const message = ${JSON.stringify(message, null, 2)};
let epoch;
let lastSeq = 0;
let waitMs = 1000;

function connect() {
  const socket = new WebSocket(\`${socket}?key=\${encodeURIComponent(KEY)}&heartbeat_interval=10\`);
  let seen = Date.now();
  const reconnect = (...reason) => {
    console.log('closed', ...reason);
    clearInterval(watch);
    socket.onmessage = socket.onclose = null;
    socket.close();
    setTimeout(connect, waitMs);
    waitMs = Math.min(waitMs * 2, 30000);
  };
  const watch = setInterval(() => {
    if (Date.now() - seen > 15000) reconnect('no heartbeat');
  }, 1000);
  socket.onopen = () => {
    const since = epoch === undefined ? lastSeq : \`\${epoch}:\${lastSeq}\`;
    const filters = lastSeq > 0 ? { ...message.filters, since_seq: since } : message.filters;
    socket.send(JSON.stringify({ ...message, filters }));
  };
  socket.onmessage = ({ data }) => {
    seen = Date.now();
    const frame = JSON.parse(data);
    if (frame.type === 'subscribed') {
      waitMs = 1000;
      epoch = frame.epoch;
    }
    for (const event of frame.type === 'snapshot' ? frame.events : [frame]) {
      console.log(event);
      // Heartbeats have a seq too, also if no event matches.
      if (event.seq !== undefined) lastSeq = Math.max(lastSeq, event.seq);
    }
    if (frame.type === 'error') {
      if (frame.code === 'since_seq_unavailable' || frame.code === 'cursor_of_another_log') {
        // Events are lost, or the log is another one: start anew.
        epoch = undefined;
        lastSeq = 0;
        delete message.filters?.since_seq;
      }
      reconnect(frame.code); // no subscription is active
    }
  };
  socket.onerror = () => undefined; // onclose follows
  socket.onclose = ({ code, reason }) => reconnect(code, reason);
}
connect();
`;

const python = ({ socket, message }) => `# pip install websockets
import asyncio, json
from urllib.parse import quote
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

KEY = "YOUR_KEY"
URL = "${socket}?key=" + quote(KEY) + "&heartbeat_interval=10"
MESSAGE = json.loads(r'''${JSON.stringify(message)}''')

async def main():
    start = MESSAGE.get("filters", {})
    epoch, last_seq, wait = None, 0, 1
    while True:
        try:
            async with connect(URL, max_size=None) as socket:
                since = f"{epoch}:{last_seq}" if epoch else last_seq
                filters = {**start, "since_seq": since} if last_seq else start
                await socket.send(json.dumps({**MESSAGE, "filters": filters}))
                while True:
                    # Without a heartbeat the connection is dead.
                    frame = json.loads(await asyncio.wait_for(socket.recv(), 15))
                    if frame["type"] == "subscribed":
                        epoch, wait = frame.get("epoch"), 1
                    for event in frame["events"] if frame["type"] == "snapshot" else [frame]:
                        print(event)
                        # Heartbeats have a seq too, also if no event matches.
                        last_seq = max(last_seq, event.get("seq", 0))
                    if frame["type"] == "error":
                        if frame["code"] in ("since_seq_unavailable", "cursor_of_another_log"):
                            # Events are lost, or the log is another one: start anew.
                            epoch, last_seq = None, 0
                            start.pop("since_seq", None)
                        break  # no subscription is active
        except (WebSocketException, OSError, asyncio.TimeoutError) as error:
            print("closed", repr(error))
        await asyncio.sleep(wait)
        wait = min(wait * 2, 30)

asyncio.run(main())
`;

/** Kinds whose past events /v3/trades lists. */
const TRADING = new Set([
  'settlements',
  'fills',
  'dome',
  'trades',
  'prices',
  'large_trades',
  'wallets',
  'markets',
  'global',
]);

/** REST request for past events: the first wallet, market, side and size of the filters. */
function curl({ api, message, nowMs }) {
  const filters = message.filters ?? {};
  const get = (path, query) =>
    `curl -s ${shell(`${api}${path}?${new URLSearchParams(query)}`)} \\\n  -H ${shell('x-api-key: YOUR_KEY')}\n`;
  if (message.type === 'chainlink') {
    const symbol = (filters.feeds?.[0] ?? 'BTC/USD').split('/')[0];
    const to = Math.floor(nowMs / 1000) * 1000;
    return get('/v1/crypto/ticks', { symbol, from: to - 60_000, to, limit: 100 });
  }
  const wallet = filters.wallets?.[0];
  if (message.type === 'combos' && wallet !== undefined)
    return get(`/v3/wallets/${encodeURIComponent(wallet)}/combos/trades`, { limit: 20 });
  if (!TRADING.has(message.type)) return '# No REST endpoint lists these kinds.\n';
  const query = { limit: 20 };
  if (filters.tokens?.length > 0) query.token_id = filters.tokens[0];
  else if (filters.condition_ids?.length > 0) query.condition_id = filters.condition_ids[0];
  else if (filters.slugs?.length > 0) query.market_slug = filters.slugs[0];
  // There `side` is the wallet's role in the fill.
  if (wallet === undefined && (filters.side === 'BUY' || filters.side === 'SELL'))
    query.side = filters.side.toLowerCase();
  const least = filters.min_size ?? (message.type === 'large_trades' ? 1000 : undefined);
  if (least !== undefined) query.min_amount_usd = least;
  return get(wallet === undefined ? '/v3/trades' : `/v3/wallets/${encodeURIComponent(wallet)}/trades`, query);
}

/** Code by language. `of`: socket and API addresses, message, nowMs. */
export const snippets = { javascript, python, curl };
