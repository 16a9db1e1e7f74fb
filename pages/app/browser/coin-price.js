// Price of the coin and price to beat of an up-or-down market, in one chart.

import { colour, dark, loadCharts } from '/console/library.js';
import { get, problem } from './api.js';
import { chartOptions, numberTable, panel, setLegend } from './charts.js';
import { $, el, gain, time } from './dom.js';
import { count, marketPath, usd, utc } from './format.js';

const SLUG = /^([a-z]+)-updown-(5m|15m|1h|4h)-(\d{9,10})$/;
const LENGTHS_S = { '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400 };
const POLL_MS = 5_000;
/** Seconds before and after the window that the chart shows. */
const MARGIN_S = 30;
const MAX_TICKS = 20_000;

/** Coin and window of the slug of an up-or-down market; null for other markets. */
export function upDownOf(slug) {
  const found = SLUG.exec(slug ?? '');
  if (found === null) return null;
  const [, coin, interval, start] = found;
  const startS = Number(start);
  return { coin, symbol: coin.toUpperCase(), interval, startS, endS: startS + LENGTHS_S[interval] };
}

/** Links to the windows before and after. */
export function neighbours({ coin, interval, startS, endS }) {
  const link = (start, words) => el('a', { href: marketPath(`${coin}-updown-${interval}-${start}`) }, words);
  return [link(startS - (endS - startS), 'previous window'), link(endS, 'next window')];
}

/** Shows the panel and keeps it up to date until the window is over. */
export async function showCoinPrice({ symbol, interval, startS, endS }) {
  const { box, canvas, state, legend, details, rows } = panel('coin');
  $('coin-panel').hidden = false;
  $('coin-title').textContent = `${symbol} price and price to beat`;
  /** Unix seconds -> USD. */
  const ticks = new Map();
  let pair = null;
  let chart = null;
  let line = null;
  let beat = null;

  const shown = () => [...ticks].sort(([a], [b]) => a - b).map(([at, value]) => ({ time: at, value }));
  const showLegend = (point) => {
    const value = point?.value ?? pair?.closePrice ?? null;
    const difference = value === null || pair?.openPrice == null ? null : value - pair.openPrice;
    setLegend(legend, [
      ['', point === undefined ? '' : utc(point.time)],
      [
        'Price to beat',
        pair?.openPrice == null ? (Date.now() / 1000 > endS ? 'not recorded' : 'not known yet') : usd(pair.openPrice),
      ],
      [pair?.completed ? 'Final price' : 'Price', usd(value)],
      ...(difference === null ? [] : [['Difference', gain(difference)]]),
    ]);
  };
  const draw = async () => {
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, {
        ...chartOptions(),
        timeScale: { ...chartOptions().timeScale, secondsVisible: true },
      });
      line = chart.addSeries(charts.LineSeries, { color: colour('--accent'), lineWidth: 2 });
      chart.subscribeCrosshairMove(({ time: at, seriesData }) => {
        const point = seriesData.get(line);
        showLegend(at === undefined || point === undefined ? shown().at(-1) : { time: at, value: point.value });
      });
      dark.addEventListener('change', () => {
        chart.applyOptions(chartOptions());
        line.applyOptions({ color: colour('--accent') });
      });
    }
    const value = pair?.openPrice ?? 1;
    const precision = value >= 1000 ? 2 : value >= 1 ? 4 : 6;
    line.applyOptions({ priceFormat: { type: 'price', precision, minMove: 10 ** -precision } });
    line.setData(shown());
    if (pair?.openPrice != null && beat?.options().price !== pair.openPrice) {
      if (beat !== null) line.removePriceLine(beat);
      const look = { color: colour('--down'), lineWidth: 1, lineStyle: 2, axisLabelVisible: true };
      beat = line.createPriceLine({ ...look, price: pair.openPrice, title: 'to beat' });
    }
    chart.timeScale().fitContent();
  };
  const list = () => {
    if (!details.open) return;
    numberTable(rows, {
      label: `Prices of ${symbol}`,
      names: ['Time, UTC', 'Price'],
      rows: shown()
        .toReversed()
        .map(({ time: at, value }) => [time(at), usd(value)]),
      foot: [`${count(ticks.size)} prices`],
    });
  };
  const update = async () => {
    const from = Math.max(startS - MARGIN_S, Math.max(0, ...ticks.keys()));
    const to = Math.min(endS + MARGIN_S, Math.ceil(Date.now() / 1000));
    const [price, found] = await Promise.all([
      get('/v1/crypto/price', { symbol, window: startS, interval }),
      from >= to
        ? { ticks: [] }
        : get('/v1/crypto/ticks', { symbol, from: from * 1000, to: to * 1000, limit: MAX_TICKS }),
    ]);
    pair = price;
    for (const tick of found.ticks) ticks.set(tick.timestamp, tick.data.price);
    state.replaceChildren(
      ...(ticks.size === 0
        ? [
            el(
              'p',
              { class: 'dim' },
              Date.now() / 1000 < startS ? 'The window has not begun.' : 'No prices of this window.',
            ),
          ]
        : []),
    );
    await draw();
    showLegend(shown().at(-1));
    list();
  };

  details.addEventListener('toggle', list);
  for (;;) {
    if (!document.hidden || ticks.size === 0) {
      try {
        await update();
      } catch (error) {
        state.replaceChildren(problem(error, null));
      }
      box.removeAttribute('aria-busy');
      if (pair?.completed || Date.now() / 1000 > endS + 10 * MARGIN_S) return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
