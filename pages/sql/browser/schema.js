// Views and columns with their comments, as a tree.

import { el } from '/app/assets/dom.js';
import { runStatement } from './run.js';

const MAX_COLUMNS = 10_000;
const SCHEMA_SQL = `SELECT c.table, t.comment, c.name, c.type, c.comment
FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE c.database = currentDatabase()
ORDER BY c.table, c.position`;

/** Views: `{ name, comment, columns: [{ name, type, comment }] }`. */
export async function loadSchema() {
  const { data } = await runStatement(SCHEMA_SQL, MAX_COLUMNS);
  const views = new Map();
  for (const [view, comment, name, type, about] of data) {
    const found = views.get(view) ?? { name: view, comment, columns: [] };
    found.columns.push({ name, type, comment: about });
    views.set(view, found);
  }
  return [...views.values()];
}

const nameButton = (name, insert) => {
  const button = el('button', { type: 'button', title: `Insert ${name}` }, name);
  button.addEventListener('click', () => insert(name));
  return button;
};

/** One view; its columns are created when it is opened. */
function viewItem(view, insert) {
  const details = el('details', {}, el('summary', {}, view.name));
  const fill = () => {
    if (details.childElementCount > 1) return;
    details.append(
      el('p', {}, nameButton(view.name, insert), view.comment),
      el(
        'ul',
        {},
        ...view.columns.map(({ name, type, comment }) =>
          el('li', {}, nameButton(name, insert), type, comment === '' ? null : el('small', {}, comment)),
        ),
      ),
    );
  };
  details.addEventListener('toggle', fill);
  return {
    details,
    /** Shows the view if its name or a column contains the text. */
    filter(text) {
      const inColumns = text !== '' && view.columns.some(({ name }) => name.includes(text));
      details.hidden = text !== '' && !view.name.includes(text) && !inColumns;
      details.open = inColumns && !details.hidden;
      if (details.open) fill();
      for (const item of details.querySelectorAll('li'))
        item.hidden = inColumns && !view.name.includes(text) && !item.firstChild.textContent.includes(text);
    },
  };
}

/** Fills `box` with the tree; `filter` is the search field over it. `insert(name)`: puts a name into the editor. */
export function showSchema(box, filter, views, insert) {
  const items = views.map((view) => viewItem(view, insert));
  const none = el('p', { class: 'dim' }, 'There are no views yet: they are created when the processors have started.');
  box.replaceChildren(...(items.length === 0 ? [none] : items.map(({ details }) => details)));
  box.removeAttribute('aria-busy');
  filter.addEventListener('input', () => {
    for (const item of items) item.filter(filter.value.trim().toLowerCase());
  });
}
