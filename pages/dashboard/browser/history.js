// Usage per day as a chart and a table.

import { chartOptions, numberTable, panel, setLegend } from '/app/assets/charts.js';
import { $, chosenOf, el } from '/app/assets/dom.js';
import { colour, dark, loadCharts } from '/console/library.js';
import { meterName, quantity } from './meters.js';
import { request, showProblem } from './requests.js';

export function createHistory() {
  const { box, canvas, state, legend, rows } = panel('history');
  let days = [];
  let chart = null;
  let bars = null;

  const look = () => ({
    ...chartOptions(),
    timeScale: { timeVisible: false, borderColor: colour('--line') },
    rightPriceScale: { borderColor: colour('--line'), scaleMargins: { top: 0.1, bottom: 0 } },
    handleScroll: false,
    handleScale: false,
  });
  const showLegend = (day) => {
    const meter = chosenOf('history-meter');
    setLegend(legend, day === undefined ? null : [[day.day, quantity(meter, day[meter])]]);
  };

  async function draw() {
    const meter = chosenOf('history-meter');
    const name = meterName(meter);
    numberTable(rows, {
      label: `${name} per day`,
      names: ['Day (UTC)', name],
      rows: days.toReversed().map((day) => [day.day, quantity(meter, day[meter])]),
      foot: [],
    });
    showLegend(days.at(-1));
    const isEmpty = days.every((day) => day[meter] === 0);
    // Without values the chart would show an axis around zero.
    canvas.style.visibility = isEmpty ? 'hidden' : '';
    state.replaceChildren(...(isEmpty ? [el('p', { class: 'dim' }, 'Nothing used in this time.')] : []));
    box.removeAttribute('aria-busy');
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, look());
      bars = chart.addSeries(charts.HistogramSeries, {
        color: colour('--accent'),
        priceLineVisible: false,
        lastValueVisible: false,
      });
      chart.subscribeCrosshairMove(({ time }) => showLegend(days.find(({ day }) => day === time) ?? days.at(-1)));
      dark.addEventListener('change', () => {
        chart.applyOptions(look());
        bars.applyOptions({ color: colour('--accent') });
      });
    }
    bars.applyOptions({
      priceFormat: { type: 'custom', minMove: 1, formatter: (value) => quantity(chosenOf('history-meter'), value) },
    });
    bars.setData(days.map((day) => ({ time: day.day, value: day[meter] })));
    chart.timeScale().fitContent();
  }
  async function load() {
    const period = chosenOf('days');
    const found = await request('GET', `/v1/account/usage/history?days=${period}`);
    if (period !== chosenOf('days')) return;
    ({ days } = found);
    await draw();
  }
  $('history-meter').addEventListener('change', () => void draw().catch(showProblem));
  $('days').addEventListener('change', () => void load().catch(showProblem));
  return { load };
}
