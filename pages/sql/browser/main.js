// The SQL page: editor, statements, results, saved and shared queries.

import { hasKey, problem, useKey } from '/app/assets/api.js';
import { $, chosenOf, el } from '/app/assets/dom.js';
import { createResultChart } from './chart.js';
import { createEditor } from './editor.js';
import { examples } from './examples.js';
import { noteHistory } from './history-note.js';
import { draft, keepDraft, linkedQuery, linkOf, removeQuery, savedQueries, saveQuery } from './queries.js';
import { noteOf, showTable, summaryOf } from './results.js';
import { downloadFile, runStatement } from './run.js';
import { loadSchema, showSchema } from './schema.js';
import { bytesText, durationText } from './values.js';

const SHOWN_ROWS = 1_000;
const TICK_MS = 100;
/** Up to this width the lists are above the editor. */
const NARROW_PX = 900;
/** Position in an error text of the engine. */
const POSITION = /\(line (\d+), col (\d+)\)/;

function askForKey(words) {
  $('view').hidden = true;
  $('problem').replaceChildren();
  $('key-form').hidden = false;
  if (words !== undefined) $('key-words').textContent = words;
  $('key').focus();
}

function queryButton(title, open) {
  const button = el('button', { type: 'button' }, title);
  button.addEventListener('click', open);
  return button;
}

function start() {
  $('view').hidden = false;
  const chart = createResultChart();
  const setStatus = (text) => {
    $('run-status').textContent = text;
  };
  /** AbortController of the statement that runs. */
  let running = null;

  const shared = linkedQuery();
  const editor = createEditor({
    host: $('editor'),
    text: shared ?? draft() ?? examples[0].sql,
    onRun: () => void run(),
    onChange: keepDraft,
  });

  /** Runs `work(signal)` as the one statement of this page: a former one is cancelled. */
  async function once(work) {
    running?.abort();
    const own = new AbortController();
    running = own;
    const startedMs = performance.now();
    const elapsed = () => durationText((performance.now() - startedMs) / 1000);
    const tick = setInterval(() => {
      if (running === own) setStatus(`Running, ${elapsed()}`);
    }, TICK_MS);
    $('message').replaceChildren();
    $('progress').hidden = false;
    $('cancel').disabled = false;
    try {
      await work(own.signal);
    } catch (error) {
      if (running !== own) return;
      if (error.name === 'AbortError') setStatus(`Cancelled after ${elapsed()}.`);
      else {
        setStatus('');
        showError(error);
      }
    } finally {
      clearInterval(tick);
      if (running === own) {
        running = null;
        $('progress').hidden = true;
        $('cancel').disabled = true;
      }
    }
  }

  function showError(error) {
    if (error.code === null || error.code === undefined) {
      $('message').replaceChildren(problem(error, () => void run()));
      return;
    }
    const box = el(
      'div',
      { class: 'notice bad', role: 'alert' },
      el('pre', {}, el('span', { class: 'status' }, `Error ${error.code}`), error.message),
    );
    const [, line, column] = POSITION.exec(error.message) ?? [];
    if (line !== undefined) {
      const go = el('button', { type: 'button' }, `Go to line ${line}, column ${column}`);
      go.addEventListener('click', () => editor.goTo(Number(line), Number(column)));
      box.append(el('p', {}, go));
    }
    $('message').replaceChildren(box);
  }

  const run = () =>
    once(async (signal) => {
      const result = await runStatement(editor.text(), SHOWN_ROWS + 1, signal);
      $('result').hidden = false;
      $('result-note').textContent = noteOf(result, SHOWN_ROWS) ?? '';
      showTable($('rows'), result, SHOWN_ROWS);
      chart.show({ ...result, data: result.data.slice(0, SHOWN_ROWS) });
      setStatus(summaryOf(result, SHOWN_ROWS));
    });

  const download = (format) =>
    once(async (signal) => {
      const bytes = await downloadFile(editor.text(), format, signal, () => undefined);
      setStatus(`Downloaded ${bytesText(bytes)}.`);
    });

  const open = (sql) => {
    editor.setText(sql);
    if (innerWidth <= NARROW_PX) $('editor').scrollIntoView();
    void run();
  };

  $('run').addEventListener('click', () => void run());
  $('cancel').addEventListener('click', () => running?.abort());
  for (const format of ['csv', 'parquet']) $(format).addEventListener('click', () => void download(format));
  $('share').addEventListener('click', async () => {
    const link = linkOf(editor.text());
    history.replaceState(history.state, '', link);
    await navigator.clipboard.writeText(link).then(
      () => setStatus('The link is copied. Whoever opens it needs a key.'),
      () => setStatus('The link is in the address bar. Whoever opens it needs a key.'),
    );
  });
  $('result-view').addEventListener('change', () => {
    const isChart = chosenOf('result-view') === 'chart';
    $('rows').hidden = isChart;
    $('chart-panel').hidden = !isChart;
    chart.draw();
  });

  $('examples').append(
    ...examples.map(({ title, sql }) =>
      el(
        'li',
        {},
        queryButton(title, () => open(sql)),
      ),
    ),
  );
  const showSaved = () => {
    const items = savedQueries().map(({ name, sql }) => {
      const remove = el('button', { type: 'button', class: 'remove', 'aria-label': `Delete ${name}` }, '×');
      remove.addEventListener('click', () => {
        removeQuery(name);
        showSaved();
      });
      return el(
        'li',
        {},
        queryButton(name, () => editor.setText(sql)),
        remove,
      );
    });
    $('saved').replaceChildren(...items);
  };
  showSaved();
  $('save').addEventListener('submit', (event) => {
    event.preventDefault();
    saveQuery($('save-name').value.trim(), editor.text());
    $('save-name').value = '';
    showSaved();
  });

  if (shared !== null) setStatus('The query is from the link. Run it.');
  if (innerWidth <= NARROW_PX) $('schema-panel').open = false;
  void noteHistory($('loading-note'));
  loadSchema().then(
    (views) => {
      showSchema($('schema'), $('schema-filter'), views, editor.insert);
      editor.setSchema(views);
    },
    (error) => {
      $('schema').removeAttribute('aria-busy');
      $('schema').replaceChildren(problem(error, () => location.reload()));
    },
  );
}

$('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  useKey($('key').value.trim());
  location.reload();
});
document.addEventListener('key-requested', ({ detail }) => askForKey(detail));
if (hasKey()) start();
else askForKey();
