// Candles of one outcome: the newest page, older ones as the reader goes back, and all of them as a table.

import { colour, dark, loadCharts } from '/console/library.js';
import { get, problem } from './api.js';
import { look, numbers, panel, say } from './charts.js';
import { el, time } from './dom.js';
import { count, price, shares, usd, utc } from './format.js';

const PAGE = 120;
/** Candles left of the view below which older ones are fetched. */
const MARGIN = 20;
const REFRESH_MS = 15_000;
/** A share is worth between nothing and a dollar; the scale's margins reach beyond. */
const onScale = (value) => (value < -0.0005 || value > 1.0005 ? '' : `$${value.toFixed(3)}`);

/** The panel of candles. */
export function createCandles() {
  const { box, canvas, state, legend, details, rows } = panel('candles');
  let chart = null;
  let bars = null;
  let volumes = null;
  /** start -> candle. */
  let known = new Map();
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

  const tell = (candle) =>
    say(
      legend,
      candle === undefined
        ? null
        : [
            ['', utc(candle.time)],
            ['Open', price(candle.open)],
            ['High', price(candle.high)],
            ['Low', price(candle.low)],
            ['Close', price(candle.close)],
            ['Volume', usd(candle.volume_usd)],
            ['Trades', count(candle.trades)],
          ],
    );

  const draw = async () => {
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, look());
      bars = chart.addSeries(charts.CandlestickSeries, {
        ...barColours(),
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
      chart.subscribeCrosshairMove(({ time: at }) => tell(at === undefined ? shown.at(-1) : known.get(at)));
      chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
        if (range !== null && range.from < MARGIN) void more();
      });
      dark.addEventListener('change', () => {
        chart.applyOptions(look());
        bars.applyOptions(barColours());
        volumes.setData(shown.map(volumeOf));
      });
    }
    bars.setData(shown.map(({ time: at, open, high, low, close }) => ({ time: at, open, high, low, close })));
    volumes.setData(shown.map(volumeOf));
  };

  const list = () => {
    if (!details.open) return;
    const button = el('button', { type: 'button', disabled: older === null }, 'Load older candles');
    button.addEventListener('click', () => void more());
    numbers(rows, {
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
    for (const candle of page.candles) known.set(candle.time, candle);
    shown = [...known.values()].sort((a, b) => a.time - b.time);
    if (from !== 'newest') older = page.pagination.older_end_ts;
  };

  /** `from`: start, older or newest. Answers of an earlier choice are dropped. */
  const fetchPage = async (from) => {
    const mine = choice;
    busy = true;
    try {
      const page = await get(`/v3/markets/${encodeURIComponent(mine.token)}/candles`, {
        resolution: mine.resolution,
        limit: from === 'newest' ? 3 : PAGE,
        end: from === 'older' ? older : null,
      });
      if (mine !== choice) return;
      const view = from === 'older' ? chart?.timeScale().getVisibleRange() : null;
      take(page, from);
      state.replaceChildren(
        ...(shown.length === 0 ? [el('p', { class: 'dim' }, 'No trade of this outcome yet, so no candle.')] : []),
      );
      await draw();
      if (mine !== choice) return;
      if (view) chart.timeScale().setVisibleRange(view);
      if (from === 'start') {
        if (shown.length < 40)
          chart.timeScale().setVisibleLogicalRange({ from: shown.length - 60, to: shown.length + 2 });
        else chart.timeScale().fitContent();
      }
      tell(shown.at(-1));
      list();
    } catch (error) {
      if (mine !== choice) return;
      state.replaceChildren(problem(error, () => void fetchPage(from)));
    } finally {
      if (mine === choice) {
        busy = false;
        box.removeAttribute('aria-busy');
      }
    }
  };
  const more = async () => {
    if (busy || older === null) return;
    await fetchPage('older');
  };

  details.addEventListener('toggle', list);
  setInterval(() => {
    if (!stale || busy || document.hidden) return;
    stale = false;
    void fetchPage('newest');
  }, REFRESH_MS);

  return {
    show(token, resolution) {
      choice = { token, resolution };
      known = new Map();
      shown = [];
      older = null;
      busy = false;
      box.setAttribute('aria-busy', 'true');
      state.replaceChildren();
      tell();
      return fetchPage('start');
    },
    /** All candles there are, once shown; null where older ones exist. */
    get total() {
      return older === null ? shown.length : null;
    },
    /** There were trades: the newest candles are asked for again, not more often than every few seconds. */
    touched() {
      stale = true;
    },
  };
}
