// Candles of one outcome: the newest page, older pages on scrolling back, and all of them as a table.

import { colour, dark, loadCharts } from '/console/library.js';
import { get, problem } from './api.js';
import { chartOptions, numberTable, panel, setLegend } from './charts.js';
import { $, chosenOf, el, time } from './dom.js';
import { count, price, shares, usd, utc } from './format.js';
import { newestCount } from './newest-candles.js';

const PAGE = 120;
/** Number of candles left of the visible range below which older ones are loaded. */
const MARGIN = 20;
const REFRESH_MS = 15_000;
/** A price per share in the chosen unit: cents, or percent of the payout. */
const inUnit = (value) => `${Number((value * 100).toFixed(2))} ${chosenOf('unit') === 'percent' ? '%' : '¢'}`;
/** Scale labels; empty outside of 0 to 1 USD, the range of a share's price. */
const onScale = (value) => (value < -0.0005 || value > 1.0005 ? '' : inUnit(value));

/** The panel of candles. */
export function createCandles() {
  const { box, canvas, state, legend, details, rows } = panel('candles');
  let chart = null;
  let bars = null;
  let line = null;
  let volumes = null;
  /** start -> candle. */
  let byStart = new Map();
  let shown = [];
  let choice = null;
  let older = null;
  let busy = false;
  let stale = false;

  const barColours = () => {
    const [upColor, downColor] = [colour('--up'), colour('--down')];
    return { upColor, downColor, borderVisible: false, wickUpColor: upColor, wickDownColor: downColor };
  };
  const volumeOf = (candle) => ({
    time: candle.time,
    value: candle.volume_usd,
    color: `${colour(candle.close >= candle.open ? '--up' : '--down')}66`,
  });

  const showLegend = (candle) =>
    setLegend(
      legend,
      candle === undefined
        ? null
        : [
            ['', utc(candle.time)],
            ['Open', inUnit(candle.open)],
            ['High', inUnit(candle.high)],
            ['Low', inUnit(candle.low)],
            ['Close', inUnit(candle.close)],
            ['Volume', usd(candle.volume_usd)],
            ['Trades', count(candle.trades)],
          ],
    );

  const draw = async () => {
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, chartOptions());
      bars = chart.addSeries(charts.CandlestickSeries, {
        ...barColours(),
        priceFormat: { type: 'custom', minMove: 0.001, formatter: onScale },
      });
      line = chart.addSeries(charts.LineSeries, {
        color: colour('--accent'),
        lineWidth: 2,
        priceFormat: { type: 'custom', minMove: 0.001, formatter: onScale },
      });
      volumes = chart.addSeries(charts.HistogramSeries, {
        priceScaleId: '',
        priceFormat: { type: 'volume' },
        lastValueVisible: false,
        priceLineVisible: false,
      });
      volumes.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
      bars.priceScale().applyOptions({ scaleMargins: { top: 0.06, bottom: 0.2 } });
      chart.subscribeCrosshairMove(({ time: at }) => showLegend(at === undefined ? shown.at(-1) : byStart.get(at)));
      chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
        if (range !== null && range.from < MARGIN) void more();
      });
      dark.addEventListener('change', () => {
        chart.applyOptions(chartOptions());
        bars.applyOptions(barColours());
        line.applyOptions({ color: colour('--accent') });
        volumes.setData(shown.map(volumeOf));
      });
    }
    const isLine = chosenOf('kind') === 'line';
    bars.setData(
      isLine ? [] : shown.map(({ time: at, open, high, low, close }) => ({ time: at, open, high, low, close })),
    );
    line.setData(isLine ? shown.map(({ time: at, close }) => ({ time: at, value: close })) : []);
    volumes.setData(shown.map(volumeOf));
  };

  const list = () => {
    if (!details.open) return;
    const button = el('button', { type: 'button', disabled: older === null }, 'Load older candles');
    button.addEventListener('click', () => void more());
    numberTable(rows, {
      label: 'Candles',
      names: ['Start, UTC', 'Open', 'High', 'Low', 'Close', 'Volume', 'Shares', 'Trades'],
      rows: shown
        .toReversed()
        .map((candle) => [
          time(candle.time),
          price(candle.open),
          price(candle.high),
          price(candle.low),
          price(candle.close),
          usd(candle.volume_usd),
          shares(candle.volume_shares),
          count(candle.trades),
        ]),
      foot: [button, `${count(shown.length)} shown`],
    });
  };

  const take = (page, from) => {
    for (const candle of page.candles) byStart.set(candle.time, candle);
    shown = [...byStart.values()].sort((a, b) => a.time - b.time);
    if (from !== 'newest') older = page.pagination.older_end_ts;
  };

  /** `from`: start, older or newest. Responses of an earlier selection are ignored. */
  const fetchPage = async (from) => {
    const requested = choice;
    const { resolution } = requested;
    const limit =
      from === 'newest'
        ? newestCount({ resolution, lastS: shown.at(-1)?.time, nowS: Date.now() / 1000, page: PAGE })
        : PAGE;
    if (limit === null) return start();
    busy = true;
    try {
      const page = await get(`/v3/markets/${encodeURIComponent(requested.token)}/candles`, {
        resolution,
        limit,
        end: from === 'older' ? older : null,
      });
      if (requested !== choice) return;
      const view = from === 'older' ? chart?.timeScale().getVisibleRange() : null;
      take(page, from);
      state.replaceChildren(
        ...(shown.length === 0 ? [el('p', { class: 'dim' }, 'No trades of this outcome yet.')] : []),
      );
      await draw();
      if (requested !== choice) return;
      if (view) chart.timeScale().setVisibleRange(view);
      if (from === 'start') {
        if (shown.length < 40)
          chart.timeScale().setVisibleLogicalRange({ from: shown.length - 60, to: shown.length + 2 });
        else chart.timeScale().fitContent();
      }
      showLegend(shown.at(-1));
      list();
    } catch (error) {
      if (requested !== choice) return;
      state.replaceChildren(problem(error, () => void fetchPage(from)));
    } finally {
      if (requested === choice) {
        busy = false;
        box.removeAttribute('aria-busy');
      }
    }
  };
  /** Empties the panel and loads its newest page. */
  const start = () => {
    byStart = new Map();
    shown = [];
    older = null;
    busy = false;
    box.setAttribute('aria-busy', 'true');
    state.replaceChildren();
    showLegend();
    return fetchPage('start');
  };
  const more = async () => {
    if (busy || older === null) return;
    await fetchPage('older');
  };

  details.addEventListener('toggle', list);
  for (const id of ['unit', 'kind'])
    $(id).addEventListener('change', () => {
      if (chart === null) return;
      void draw();
      showLegend(shown.at(-1));
    });
  setInterval(() => {
    if (!stale || busy || document.hidden) return;
    stale = false;
    void fetchPage('newest');
  }, REFRESH_MS);

  return {
    show(token, resolution) {
      choice = { token, resolution };
      return start();
    },
    /** Total number of candles, once all are shown; null if older ones exist. */
    get total() {
      return older === null ? shown.length : null;
    },
    /** Called after a new trade: requests the newest candles again, at most once every few seconds. */
    touched() {
      stale = true;
    },
  };
}
