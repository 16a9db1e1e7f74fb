// "This view as REST, WebSocket and SQL": the request, the message and the statement that return what a view shows.

import { socketUrl } from './api.js';
import { $, copyText, el } from './dom.js';

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** A text as SQL literal. */
export const sqlText = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** Token ids as SQL list of numbers: they have up to 78 digits. */
export const sqlTokens = (ids) => ids.map((id) => `toUInt256('${id}')`).join(', ');

/** `curl` with the key in the variable KEY. Empty parameters are left out, as in the page's own requests. */
function curl({ path, query = {} }) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given).toString();
  return `curl -s ${shell(`${location.origin}${path}${text === '' ? '' : `?${text}`}`)} -H "x-api-key: $KEY"`;
}

function entry({ title, kind, text, note = null, link = null }) {
  const button = el('button', { type: 'button', 'aria-label': `Copy: ${title}` }, 'Copy');
  button.addEventListener('click', () => void copyText(button, text));
  return el(
    'div',
    { class: 'code' },
    el('div', { class: 'bar' }, el('h3', {}, title), button, link),
    el('pre', { tabindex: '0', 'data-kind': kind, 'data-title': title }, text),
    note === null ? null : el('p', { class: 'hint' }, note),
  );
}

/** Link that opens the statement in the editor of /sql. */
const sqlLink = (title, text) =>
  el(
    'a',
    { href: `/sql#${new URLSearchParams({ sql: text })}`, 'aria-label': `Open in the SQL page: ${title}` },
    'Open in the SQL page',
  );

/**
 * Fills the panel with the code of the view as it is now, and again after each change of a selection. `view()`: `{ rest: [{ title, path, query }],
 * socket: [{ title, message }], sql: [{ title, text }] }`.
 */
export function showAsCode(view) {
  const panel = $('as-code');
  const draw = () => {
    if (!panel.open) return;
    const { rest, socket, sql } = view();
    $('as-code-body').replaceChildren(
      el(
        'p',
        { class: 'hint' },
        'KEY is your key. SQL runs on the views of ',
        el('a', { href: '/docs/sql' }, 'the SQL interface'),
        '.',
      ),
      ...rest.map((one) => entry({ title: `REST: ${one.title}`, kind: 'rest', text: curl(one) })),
      ...socket.map(({ title, message }) =>
        entry({
          title: `WebSocket: ${title}`,
          kind: 'socket',
          text: JSON.stringify(message),
          note: `Send it to ${socketUrl}?key=$KEY`,
        }),
      ),
      ...sql.map(({ title, text }) => entry({ title: `SQL: ${title}`, kind: 'sql', text, link: sqlLink(title, text) })),
    );
  };
  panel.hidden = false;
  panel.addEventListener('toggle', draw);
  document.addEventListener('change', () => setTimeout(draw));
  draw();
}
