// The result of a statement as lines over time, or as bars.

import { chartOptions } from '/app/assets/charts.js';
import { $, el } from '/app/assets/dom.js';
import { count } from '/app/assets/format.js';
import { colour, dark, loadCharts } from '/console/library.js';
import { barChart } from './bars.js';
import { isNumber, isTime, secondsOf, textOf } from './values.js';

const MAX_BARS = 200;
const MAX_LINES = 8;
const NONE = '';
const LINE_COLOURS = ['#1f8a5b', '#c2731d', '#8257e5', '#d0457f', '#2f7ed8', '#8a8f00', '#b5483a', '#3a8f9e'];

const options = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => el('option', { value, selected: value === chosen }, text)));
};
const indexOf = (select) => (select.value === NONE ? null : Number(select.value));

/** Columns that a chart begins with: the first time, else the first text, over the first number; split by text when times repeat. */
function firstColumns({ meta, data }) {
  const at = (test) => meta.findIndex(({ type }, index) => test(type, index));
  const time = at(isTime);
  const text = at((type) => !isNumber(type) && !isTime(type));
  const x = time !== -1 ? time : text !== -1 ? text : 0;
  const y = at((type, index) => isNumber(type) && index !== x);
  const repeats = new Set(data.map((row) => row[x])).size < data.length;
  return { x, y, split: repeats && text !== -1 && text !== x ? text : null };
}

/** Points by the value of the split column, ascending time; of several rows with one time the last counts. */
function linesOf(data, { x, y, split }) {
  const lines = new Map();
  for (const row of data) {
    const time = secondsOf(row[x]);
    if (!Number.isFinite(time) || row[y] === null) continue;
    const name = split === null ? '' : (textOf(row[split]) ?? 'NULL');
    if (!lines.has(name)) lines.set(name, new Map());
    lines.get(name).set(time, Number(row[y]));
  }
  return [...lines].map(([name, points]) => [
    name,
    [...points].map(([time, value]) => ({ time, value })).sort((a, b) => a.time - b.time),
  ]);
}

/** The chart of the page; `show(result)` takes the next result. */
export function createResultChart() {
  const box = $('chart-box');
  const note = $('chart-note');
  const [selectX, selectY, selectSplit, selectKind] = ['x', 'y', 'split', 'kind'].map((name) => $(`chart-${name}`));
  let result = null;
  let chart = null;
  let generation = 0;

  const clear = () => {
    chart?.remove();
    chart = null;
    box.replaceChildren();
  };

  const drawBars = (columns) => {
    const { x, y, split } = columns;
    const label = (row) =>
      [row[x], ...(split === null ? [] : [row[split]])].map((value) => textOf(value) ?? 'NULL').join(' ');
    const bars = result.data
      .filter((row) => row[y] !== null && Number.isFinite(Number(row[y])))
      .map((row) => ({ label: label(row), value: Number(row[y]) }));
    if (bars.length === 0) {
      note.textContent = 'There is no number to draw.';
      return;
    }
    note.textContent = bars.length > MAX_BARS ? `The first ${MAX_BARS} of ${count(bars.length)} rows.` : '';
    box.append(barChart(bars.slice(0, MAX_BARS), result.meta[y].name));
  };

  const drawLines = async (columns) => {
    const started = generation;
    const charts = await loadCharts();
    if (started !== generation) return;
    const lines = linesOf(result.data, columns);
    note.textContent = lines.length > MAX_LINES ? `The first ${MAX_LINES} of ${count(lines.length)} lines.` : '';
    chart = charts.createChart(box, chartOptions());
    lines.slice(0, MAX_LINES).forEach(([title, points], index) => {
      const largest = Math.max(...points.map(({ value }) => Math.abs(value)));
      const precision = largest >= 1000 ? 2 : largest >= 1 ? 4 : 6;
      const line = chart.addSeries(charts.LineSeries, {
        title,
        color: LINE_COLOURS[index],
        lineWidth: 2,
        priceFormat: { type: 'price', precision, minMove: 10 ** -precision },
      });
      line.setData(points);
    });
    chart.timeScale().fitContent();
  };

  const draw = () => {
    generation += 1;
    clear();
    if (result === null || $('chart-panel').hidden) return;
    const columns = { x: indexOf(selectX), y: indexOf(selectY), split: indexOf(selectSplit) };
    if (columns.y === null) {
      note.textContent = 'A chart needs a column of numbers besides x.';
      return;
    }
    const canLine = isTime(result.meta[columns.x].type);
    selectKind.disabled = !canLine;
    if (!canLine) selectKind.value = 'bars';
    if (selectKind.value === 'bars') drawBars(columns);
    else
      drawLines(columns).catch((error) => {
        note.textContent = error.message;
      });
  };

  for (const select of [selectX, selectY, selectSplit, selectKind]) select.addEventListener('change', draw);
  selectX.addEventListener('change', () => {
    if (isTime(result.meta[indexOf(selectX)].type)) selectKind.value = 'line';
  });
  dark.addEventListener('change', () => {
    chart?.applyOptions({ ...chartOptions(), layout: { ...chartOptions().layout, textColor: colour('--muted') } });
  });

  return {
    draw,
    show(next) {
      result = next;
      const names = next.meta.map(({ name }, index) => [String(index), name]);
      const { x, y, split } = firstColumns(next);
      options(selectX, names, String(x));
      const numbers = names.filter((_, index) => isNumber(next.meta[index].type));
      options(selectY, numbers, String(y));
      options(selectSplit, [[NONE, 'nothing'], ...names], split === null ? NONE : String(split));
      selectKind.value = isTime(next.meta[x]?.type ?? '') ? 'line' : 'bars';
      draw();
    },
  };
}
