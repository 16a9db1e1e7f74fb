// PnL of a wallet over time, as a line chart.

import { colour, dark, loadCharts } from '/console/library.js';
import { get, isPaidOnly, problem } from './api.js';
import { chartOptions, numberTable, panel, setLegend } from './charts.js';
import { $, chosenOf, el, gain, time } from './dom.js';
import { count, profit, utc } from './format.js';
import { paidOnly } from './free-plan.js';

/** Curves by name. `read(body)`: `[Unix seconds, USD]`, oldest first. */
const CURVES = {
  market: {
    periods: ['1D', '1W', '1M', 'ALL'],
    first: 'ALL',
    path: (wallet) => `/v1/trader/${wallet}/pnl`,
    read: ({ series }) => series.map(({ timestamp, pnl }) => [timestamp, pnl]),
    words: 'After fees; open positions at the prices of each point.',
  },
  realized: {
    periods: ['7d', '30d', '90d', '1y', 'all'],
    first: 'all',
    path: (wallet) => `/v2/trader/${wallet}/equity`,
    read: ({ raw }) => raw.curve.map(({ t, pnl }) => [t, pnl]),
    words: 'Before fees; positions in the order of their first activity.',
  },
};

export function createEquity(address) {
  const { box, canvas, state, legend, details, rows } = panel('equity');
  let chart = null;
  let line = null;
  let shown = [];
  let generation = 0;

  const lineColours = () => {
    const [up, down] = [colour('--up'), colour('--down')];
    return {
      topLineColor: up,
      topFillColor1: `${up}44`,
      topFillColor2: `${up}08`,
      bottomLineColor: down,
      bottomFillColor1: `${down}08`,
      bottomFillColor2: `${down}44`,
    };
  };
  const showLegend = (point) =>
    setLegend(
      legend,
      point === undefined
        ? null
        : [
            ['', utc(point.time)],
            ['Profit', profit(point.value)],
            [CURVES[chosenOf('curve')].words, ''],
          ],
    );

  const draw = async () => {
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, chartOptions());
      line = chart.addSeries(charts.BaselineSeries, {
        ...lineColours(),
        baseValue: { type: 'price', price: 0 },
        lineWidth: 2,
        priceFormat: { type: 'custom', minMove: 0.01, formatter: profit },
      });
      chart.subscribeCrosshairMove(({ time: at, seriesData }) => {
        const point = seriesData.get(line);
        showLegend(at === undefined || point === undefined ? shown.at(-1) : { time: at, value: point.value });
      });
      dark.addEventListener('change', () => {
        chart.applyOptions(chartOptions());
        line.applyOptions(lineColours());
      });
    }
    line.setData(shown);
    chart.timeScale().fitContent();
  };

  const clear = () => {
    shown = [];
    line?.setData([]);
    showLegend();
    list();
  };

  const list = () => {
    if (!details.open) return;
    numberTable(rows, {
      label: 'Profit over time',
      names: ['Time, UTC', 'Profit'],
      rows: shown.toReversed().map(({ time: at, value }) => [time(at), gain(value)]),
      foot: [`${count(shown.length)} points`],
    });
  };

  const show = async () => {
    const started = ++generation;
    const curve = CURVES[chosenOf('curve')];
    box.setAttribute('aria-busy', 'true');
    state.replaceChildren();
    try {
      const body = await get(curve.path(address), { period: chosenOf('period') });
      if (started !== generation) return;
      // Points of the same second are steps of one sum: the last one counts.
      shown = [...new Map(curve.read(body)).entries()].map(([at, value]) => ({ time: at, value }));
      if (shown.length === 0) state.replaceChildren(el('p', { class: 'dim' }, 'No profit or loss in this period.'));
      await draw();
      if (started !== generation) return;
      showLegend(shown.at(-1));
      list();
    } catch (error) {
      if (started !== generation) return;
      if (isPaidOnly(error)) {
        clear();
        state.replaceChildren(paidOnly('This curve is part of the paid plans.', error));
      } else state.replaceChildren(problem(error, () => void show()));
    }
    box.removeAttribute('aria-busy');
  };

  const offer = () => {
    const { periods, first } = CURVES[chosenOf('curve')];
    const field = $('period');
    field.replaceChildren(
      field.querySelector('legend'),
      ...periods.map((value) =>
        el(
          'label',
          {},
          el('input', { type: 'radio', name: 'period', value, checked: value === first }),
          el('span', {}, value.toUpperCase()),
        ),
      ),
    );
  };
  offer();
  $('curve').addEventListener('change', () => {
    offer();
    void show();
  });
  $('period').addEventListener('change', () => void show());
  details.addEventListener('toggle', list);
  return { show };
}
