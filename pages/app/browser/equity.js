// PnL of a wallet over time, as a line chart.

import { colour, dark, loadCharts } from '/console/library.js';
import { get, isPaidOnly, problem } from './api.js';
import { chartOptions, numberTable, panel, setLegend } from './charts.js';
import { $, chosenOf, el, gain, time } from './dom.js';
import { count, profit, utc } from './format.js';
import { paidOnly } from './free-plan.js';
import { gapSteps, incompleteDays } from './gaps.js';

/** Curves by name. `read(body)`: `[Unix seconds, USD]`, oldest first. `isCumulative`: values count from the first trade, also in a shorter period. */
const CURVES = {
  market: {
    periods: ['1D', '1W', '1M', 'ALL'],
    first: 'ALL',
    path: (wallet) => `/v1/trader/${wallet}/pnl`,
    read: ({ series }) => series.map(({ timestamp, pnl }) => [timestamp, pnl]),
    isCumulative: true,
    words: 'After fees; open positions at the prices of each point.',
  },
  realized: {
    periods: ['7d', '30d', '90d', '1y', 'all'],
    first: 'all',
    path: (wallet) => `/v2/trader/${wallet}/equity`,
    read: ({ raw }) => raw.curve.map(({ t, pnl }) => [t, pnl]),
    isCumulative: false,
    words: 'Before fees; positions in the order of their first activity.',
  },
};

const HOUR_S = 3_600;
/** Longest wait after which a curve is requested again by itself; an allowance that is used up has a longer one. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Points of a curve. Over all time it begins at 0 before the first trade; a shorter period of a cumulative curve counts from the value at its start.
 */
function pointsOf(curve, body, isAllTime) {
  // Points of the same second are steps of one sum: the last one counts.
  const points = [...new Map(curve.read(body)).entries()].map(([time, value]) => ({ time, value }));
  const [first, second] = points;
  if (first === undefined) return points;
  if (isAllTime || !curve.isCumulative) {
    const step = second === undefined ? HOUR_S : second.time - first.time;
    return first.value === 0 ? points : [{ time: first.time - step, value: 0 }, ...points];
  }
  return points.map(({ time, value }) => ({ time, value: value - first.value }));
}

export function createEquity(address) {
  const { box, canvas, state, legend, details, rows } = panel('equity');
  let chart = null;
  let line = null;
  let bands = null;
  let shown = [];
  let incomplete = new Set();
  let generation = 0;

  const isAllTime = () => chosenOf('period').toUpperCase() === 'ALL';
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
  const bandColours = () => ({ topColor: colour('--gap'), bottomColor: colour('--gap') });
  const showLegend = (point) =>
    setLegend(
      legend,
      point === undefined
        ? null
        : [
            ['', utc(point.time)],
            [isAllTime() ? 'Profit' : 'Profit of the period', profit(point.value)],
            [CURVES[chosenOf('curve')].words, ''],
            ...(incomplete.size === 0 ? [] : [['Shaded: days without complete data.', '']]),
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
      // An area has no spaces between the days, as bars have.
      bands = chart.addSeries(charts.AreaSeries, {
        ...bandColours(),
        priceScaleId: 'gaps',
        lineType: charts.LineType.WithSteps,
        lineVisible: false,
        crosshairMarkerVisible: false,
        lastValueVisible: false,
        priceLineVisible: false,
        autoscaleInfoProvider: () => ({ priceRange: { minValue: 0, maxValue: 1 } }),
      });
      bands.priceScale().applyOptions({ scaleMargins: { top: 0, bottom: 0 } });
      chart.subscribeCrosshairMove(({ time: at, seriesData }) => {
        const point = seriesData.get(line);
        showLegend(at === undefined || point === undefined ? shown.at(-1) : { time: at, value: point.value });
      });
      dark.addEventListener('change', () => {
        chart.applyOptions(chartOptions());
        line.applyOptions(lineColours());
        bands.applyOptions(bandColours());
      });
    }
    line.setData(shown);
    bands.setData(gapSteps(shown, incomplete));
    chart.timeScale().fitContent();
  };

  const clear = () => {
    shown = [];
    incomplete = new Set();
    line?.setData([]);
    bands?.setData([]);
    showLegend();
    list();
  };

  const list = () => {
    if (!details.open) return;
    numberTable(rows, {
      label: 'Profit over time',
      names: ['Time, UTC', 'Profit', 'Data'],
      rows: shown
        .toReversed()
        .map(({ time: at, value }) => [
          time(at),
          gain(value),
          incomplete.has(utc(at).slice(0, 10)) ? 'incomplete day' : 'complete',
        ]),
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
      const points = pointsOf(curve, body, isAllTime());
      const days = points.length === 0 ? new Set() : await incompleteDays(points[0].time, points.at(-1).time);
      if (started !== generation) return;
      shown = points;
      incomplete = days;
      if (shown.length === 0) state.replaceChildren(el('p', { class: 'dim' }, 'No profit or loss in this period.'));
      await draw();
      if (started !== generation) return;
      showLegend(shown.at(-1));
      list();
    } catch (error) {
      if (started !== generation) return;
      clear();
      if (isPaidOnly(error)) {
        state.replaceChildren(paidOnly('This curve is part of the paid plans.', error));
      } else {
        state.replaceChildren(problem(error, () => void show()));
        // Curves by position may be requested once in ten seconds.
        const waitMs = (error.retryAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
        if (waitMs <= LONGEST_WAIT_MS)
          setTimeout(() => {
            if (started === generation) void show();
          }, waitMs);
      }
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
