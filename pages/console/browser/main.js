import { createPriceChart } from './chart.js';
import { readKey, storeKey } from './key.js';
import { createFrameList } from './list.js';
import { snippets, subscribeMessage } from './message.js';
import { createPositionLine } from './position.js';
import { createPresetLine } from './preset-now.js';
import { createSilence } from './silence.js';
import { createMeter, openStream } from './stream.js';

const $ = (id) => document.getElementById(id);
const { port: gatewayPort, socket: configuredSocket } = document.body.dataset;
const socketUrl =
  configuredSocket || `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.hostname}:${gatewayPort}/ws`;
const CONTROL = new Set([
  ...['subscribed', 'unsubscribed', 'snapshot', 'heartbeat', 'pong', 'error'],
  ...['skipped', 'end_of_block', 'end_of_window'],
]);
/** Seconds between heartbeats, which tell where the stream stands. */
const HEARTBEAT_INTERVAL_S = 5;

const form = $('form');
const fields = form.elements;
let stream = null;
let meter = createMeter();
let paused = false;
let total = 0;
let skipped = 0;
let language = 'javascript';

const chart = createPriceChart({ box: $('chart'), select: $('chart-feed'), onError: (text) => showStatus(text, true) });
const position = createPositionLine($('position'));
const silence = createSilence($('silence'));
const presetLine = createPresetLine({
  box: $('preset-now'),
  url: (key) => `${socketUrl}?${new URLSearchParams({ key })}`,
});
const list = createFrameList({ box: $('frames'), render: renderRow, onSelect: showFrame });

function showStatus(text, isError = false) {
  $('status').textContent = text;
  $('status').classList.toggle('error', isError);
}

function formValues() {
  return {
    type: fields.type.value,
    wallets: fields.wallets.value,
    tokens: fields.tokens.value,
    slugs: fields.slugs.value,
    condition_ids: fields.condition_ids.value,
    side: fields.side.value,
    min_size: fields.min_size.value,
    snapshot_count: fields.snapshot_count.value,
    event_types: [...form.querySelectorAll('input[name=event_types]:checked')].map((box) => box.value),
    feeds: [...form.querySelectorAll('input[name=feeds]:checked')].map((box) => box.value),
    price: fields.price.value,
    more: fields.more.value,
  };
}

/** Shows the code for the form; false if the form is invalid. */
function showCode() {
  try {
    const message = subscribeMessage(formValues());
    $('code').textContent = snippets[language]({ socket: socketUrl, api: location.origin, message, nowMs: Date.now() });
    $('form-error').textContent = '';
    return message;
  } catch (error) {
    $('form-error').textContent = error.message;
    return false;
  }
}

function followPreset() {
  const type = fields.type.value;
  for (const section of document.querySelectorAll('[data-for]'))
    section.hidden = (section.dataset.for === 'chainlink') !== (type === 'chainlink');
  for (const option of fields.side.options) {
    const combo = option.value === 'YES' || option.value === 'NO';
    option.hidden = option.value !== '' && combo !== (type === 'combos');
  }
  if (fields.side.selectedOptions[0]?.hidden) fields.side.value = '';
  showCode();
}

const clock = (ms) => new Date(ms).toISOString().slice(11, 23);

/** One-line summary of a frame. */
function summary({ type, data = {}, ...frame }) {
  const title = data.market_title ?? data.title ?? '';
  const joined = (...parts) => parts.filter((part) => part !== undefined && part !== null && part !== '').join(' · ');
  const trade = (side, size, price, outcome) => `${side} ${size} ${outcome ?? ''} @ ${price}`;
  switch (type) {
    case 'settlement':
      return joined(trade(data.taker_side, data.taker_size, data.taker_price, data.outcome), title);
    case 'trade':
      return joined(trade(data.side, data.size, data.price, data.outcome), title);
    case 'event':
      return joined(trade(data.side, data.shares_normalized, data.price, data.token_label), title);
    case 'status_update':
      return joined(`confirmed after ${data.latency_ms} ms`, title);
    case 'block':
      return joined(
        `block ${data.block_number}`,
        `${data.settlement_count} settlements`,
        `${data.trade_volume_usd} USD`,
      );
    case 'redemption':
      return joined(`paid ${data.payout} USD`, data.winning_outcome, title);
    case 'oracle':
      return joined(data.oracle_type, data.resolved_outcome, title);
    case 'price_feed':
      return joined(frame.feed, String(data.price), frame.is_twap ? `${frame.twap_window_seconds} s TWAP` : 'spot');
    case 'combo_lifecycle':
      return joined(data.action, data.user, data.amount_usdc);
    case 'subscribed':
      return joined(frame.subscription_type, ...frame.warnings);
    case 'snapshot':
      return `${frame.count} events`;
    case 'error':
      return joined(frame.code, frame.message);
    default:
      return joined(data.amount === undefined ? '' : String(data.amount), title, data.tx_hash);
  }
}

function renderRow(row, { frame, atMs }) {
  const cell = (name, text) => {
    const span = document.createElement('span');
    span.className = name;
    span.textContent = text;
    return span;
  };
  row.className = frame.type === 'error' ? 'row bad' : CONTROL.has(frame.type) ? 'row control' : 'row';
  row.replaceChildren(
    cell('at', clock(atMs)),
    cell('seq', frame.seq ?? ''),
    cell('type', frame.type),
    cell('what', summary(frame)),
  );
}

function showFrame({ text }) {
  $('detail').textContent = JSON.stringify(JSON.parse(text), null, 2);
  $('detail-panel').hidden = false;
}

/** Milliseconds from the event to its arrival, for kinds with an observation time instead of a block time. */
function delayOf(frame) {
  const seenMs = frame.type === 'price_feed' ? frame.timestamp_ms : frame.timestamp;
  const live = ['settlement', 'event', 'status_update', 'price_feed', 'combo_execution'].includes(frame.type);
  return live ? Math.max(0, Date.now() - seenMs) : null;
}

let snapshotLeft = 0;
function onFrame(frame, text) {
  const event = !CONTROL.has(frame.type);
  if (frame.type === 'snapshot') snapshotLeft = frame.count;
  const old = event && snapshotLeft > 0;
  if (old) snapshotLeft -= 1;
  position.add(frame);
  silence.add(frame, event);
  meter.add({ frames: 1, delayMs: event && !old ? delayOf(frame) : null });
  total += 1;
  if (frame.type === 'price_feed') {
    $('chart-panel').hidden = false;
    chart.add(frame);
  }
  if (frame.type === 'error') showStatus(`${frame.code}: ${frame.message}`, true);
  if (paused) skipped += 1;
  else list.add({ number: total, frame, text, atMs: Date.now() });
}

/** Shows why the socket was rejected: browsers hide the reason, the REST API returns it. */
async function explainRejection(key) {
  try {
    const response = await fetch('/v1/status', { headers: { 'x-api-key': key } });
    if (response.ok)
      showStatus(
        `${socketUrl} rejected the connection: it may be down, or the connections of your plan are used up.`,
        true,
      );
    else showStatus((await response.json()).error ?? `HTTP ${response.status}`, true);
  } catch (error) {
    showStatus(`Neither ${socketUrl} nor the API responds: ${error.message}`, true);
  }
}

const STATES = {
  connecting: 'Connecting ...',
  open: 'Connected.',
  waiting: 'Connection lost; reconnecting and resuming after the last frame.',
  closed: 'Not connected.',
};

function connect() {
  const message = showCode();
  if (message === false) return;
  const key = fields.key.value.trim();
  if (key === '') {
    showStatus('Enter a key.', true);
    fields.key.focus();
    return;
  }
  storeKey(key);
  presetLine.stop();
  silence.start(message);
  list.clear();
  position.clear();
  chart.clear();
  $('chart-panel').hidden = true;
  $('detail-panel').hidden = true;
  meter = createMeter();
  total = 0;
  snapshotLeft = 0;
  const compress = fields.compress.checked ? { compress: 'zlib' } : {};
  const query = new URLSearchParams({ key, heartbeat_interval: HEARTBEAT_INTERVAL_S, ...compress });
  stream = openStream({
    url: `${socketUrl}?${query}`,
    message,
    on: {
      frame: onFrame,
      bytes: (bytes) => meter.add({ bytes }),
      state(name, detail = '') {
        if (name === 'closed') {
          stream = null;
          silence.stop();
          $('connect').textContent = 'Connect';
          if (detail === 'rejected') {
            void explainRejection(key);
            return;
          }
        } else $('connect').textContent = 'Disconnect';
        showStatus(`${STATES[name]} ${detail}`.trim(), name === 'waiting');
      },
    },
  });
}

function setPaused(value) {
  paused = value;
  skipped = 0;
  $('pause').textContent = paused ? 'Resume' : 'Pause';
  $('pause').setAttribute('aria-pressed', String(paused));
}

const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
function showCounters() {
  const { framesPerSecond, bytesPerSecond, delayMs } = meter.read();
  $('rate').textContent = number(framesPerSecond, 1);
  $('bytes').textContent =
    bytesPerSecond >= 1000 ? `${number(bytesPerSecond / 1000, 1)} kB` : `${number(bytesPerSecond)} B`;
  $('delay').textContent = delayMs === null ? '–' : `${number(delayMs)} ms`;
  $('total').textContent = number(total);
  $('shown').textContent = paused
    ? `${number(list.length)} shown, ${number(skipped)} skipped`
    : `${number(list.length)} shown`;
}

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Press Ctrl-C';
    getSelection()?.selectAllChildren(button.closest('section').querySelector('pre'));
  }
  setTimeout(() => {
    button.textContent = label;
  }, 1500);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (stream === null) connect();
  else stream.close();
});
form.addEventListener('input', showCode);
/** A plan may have one connection only: the line keeps its text while the stream is open. */
function showPresetNow() {
  if (stream === null) presetLine.show(fields.key.value.trim(), fields.type.value);
}
fields.type.addEventListener('change', () => {
  followPreset();
  showPresetNow();
});
fields.key.addEventListener('change', showPresetNow);
$('pause').addEventListener('click', () => setPaused(!paused));
$('clear').addEventListener('click', () => list.clear());
$('search').addEventListener('input', ({ target }) => {
  const searchText = target.value.toLowerCase();
  list.filter(searchText === '' ? () => true : ({ text }) => text.toLowerCase().includes(searchText));
});
$('copy-code').addEventListener('click', ({ target }) => void copy($('code').textContent, target));
$('copy-frame').addEventListener('click', ({ target }) => void copy($('detail').textContent, target));
for (const radio of document.querySelectorAll('input[name=language]')) {
  radio.addEventListener('change', () => {
    language = radio.value;
    showCode();
  });
}
fields.key.value = readKey();
setInterval(showCounters, 500);
followPreset();
showPresetNow();
