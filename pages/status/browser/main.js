// /status: the state of the service for people, without a key. Requests it again every few seconds while the page is visible.

import { $, el } from '/app/assets/dom.js';
import { createCalendar } from './calendar.js';
import { ageText, noticesOf } from './notices.js';
import { groupsTable, sourcesTable } from './tables.js';

const INTERVAL_MS = 5_000;
const COVERAGE_INTERVAL_MS = 60_000;

const calendar = createCalendar();
let coverageDueMs = 0;

async function read(path) {
  const response = await fetch(path, { cache: 'no-store' });
  const body = await response.json().catch(() => null);
  if (!response.ok || body === null) throw new Error(body?.error ?? `HTTP ${response.status}`);
  return body;
}

function showNotices({ problems, notes }) {
  const items = [
    ...problems.map((text) => el('li', { class: 'bad-number' }, text)),
    ...notes.map((text) => el('li', {}, text)),
  ];
  $('notices').replaceChildren(items.length === 0 ? el('p', { class: 'dim' }, 'None.') : el('ul', {}, ...items));
}

function show(body) {
  const notices = noticesOf(body);
  const { problems, notes } = notices;
  const overall = problems.length === 1 ? '1 problem.' : problems.length > 1 ? `${problems.length} problems.` : null;
  const loading = notes.length > 0 && body.tables.some(({ state }) => state === 'loading' || state === 'empty');
  // The line is read out when it changes, so it does not change without a reason.
  const text = overall ?? (loading ? 'The history is loading.' : 'All sources are current.');
  if ($('overall').textContent !== text) $('overall').textContent = text;
  $('overall').className = `overall ${problems.length > 0 ? 'bad-number' : loading ? '' : 'good'}`;
  $('notice').textContent = body.notice;
  $('sources').replaceChildren(sourcesTable(body.sources));
  $('tables').replaceChildren(groupsTable(body.tables));
  for (const id of ['sources', 'tables']) $(id).removeAttribute('aria-busy');
  showNotices(notices);
  const checked = body.checked_at.slice(0, 19).replace('T', ' ');
  $('versions').replaceChildren(
    el('span', {}, `Oddstream ${body.versions.product}`),
    el('span', {}, `API ${body.versions.api}`),
    el('span', {}, `running for ${ageText(body.uptime_seconds)}`),
    el('span', {}, `as of ${checked} UTC, requested every ${INTERVAL_MS / 1000} s`),
  );
}

async function updateCoverage() {
  if (Date.now() < coverageDueMs) return;
  coverageDueMs = Date.now() + COVERAGE_INTERVAL_MS;
  try {
    const { days } = await read('/v1/coverage/days');
    calendar.show(days);
    if (days.length === 0) coverageDueMs = 0;
  } catch (error) {
    coverageDueMs = 0;
    calendar.fail(`The coverage is not available yet: ${error.message} The page tries again.`);
  }
}

async function update() {
  try {
    show(await read('/v1/status/public'));
    await updateCoverage();
  } catch (error) {
    const words = error instanceof TypeError ? 'The API does not respond' : error.message;
    $('overall').textContent = `${words}: the page tries again every ${INTERVAL_MS / 1000} s.`;
    $('overall').className = 'overall bad-number';
  }
}

let timer;
async function run() {
  clearTimeout(timer);
  await update();
  if (!document.hidden) timer = setTimeout(run, INTERVAL_MS);
}
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void run();
});
void run();
