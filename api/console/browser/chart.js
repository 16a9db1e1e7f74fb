// Live lines of the oracle prices, drawn by lightweight-charts, which is loaded when the first price comes.

const KEPT_POINTS = 3600;
const DARK = matchMedia('(prefers-color-scheme: dark)');
/** Spot, 30 s, 60 s. */
const LINES = {
  spot: { title: 'spot', color: '#1f8a5b' },
  30: { title: '30 s', color: '#c2731d' },
  60: { title: '60 s', color: '#8257e5' },
};

function loadLibrary() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = '/console/lightweight-charts.js';
    script.onload = () => resolve(window.LightweightCharts);
    script.onerror = () => reject(new Error('the chart library did not load'));
    document.head.append(script);
  });
}

const look = () => {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    layout: { background: { color: of('--bg') }, textColor: of('--muted'), fontFamily: 'system-ui, sans-serif' },
    grid: { vertLines: { color: of('--line') }, horzLines: { color: of('--line') } },
    timeScale: { timeVisible: true, secondsVisible: true, borderColor: of('--line') },
    rightPriceScale: { borderColor: of('--line') },
    autoSize: true,
  };
};

/** `box`: where it is drawn; `select`: the choice of the feed, filled as feeds are seen. */
export function createPriceChart({ box, select, onError }) {
  /** feed -> line -> points, ascending time. */
  const feeds = new Map();
  let library;
  let chart;
  let series = new Map();

  const draw = async () => {
    library ??= loadLibrary();
    const charts = await library;
    chart ??= charts.createChart(box, look());
    for (const line of series.values()) chart.removeSeries(line);
    series = new Map();
    for (const [name, points] of feeds.get(select.value) ?? []) {
      const { title, color } = LINES[name];
      const price = points.at(-1)?.value ?? 1;
      const precision = price >= 1000 ? 2 : price >= 1 ? 4 : 6;
      const line = chart.addSeries(charts.LineSeries, {
        title,
        color,
        lineWidth: 2,
        priceFormat: { type: 'price', precision, minMove: 10 ** -precision },
      });
      line.setData(points);
      series.set(name, line);
    }
  };
  const drawSafely = () => draw().catch((error) => onError(error.message));
  select.addEventListener('change', drawSafely);
  DARK.addEventListener('change', () => chart?.applyOptions(look()));

  return {
    add(frame) {
      const name = String(frame.twap_window_seconds ?? 'spot');
      let lines = feeds.get(frame.feed);
      if (lines === undefined) {
        lines = new Map();
        feeds.set(frame.feed, lines);
        select.add(new Option(frame.feed, frame.feed));
      }
      const points = lines.get(name) ?? [];
      const isNew = points.length === 0;
      lines.set(name, points);
      const point = { time: frame.timestamp, value: frame.data.price };
      if (!isNew && point.time <= points.at(-1).time) return;
      points.push(point);
      if (points.length > KEPT_POINTS) points.shift();
      if (frame.feed !== select.value) return;
      if (isNew) drawSafely();
      else series.get(name)?.update(point);
    },
    clear() {
      feeds.clear();
      select.replaceChildren();
      if (chart !== undefined) drawSafely();
    },
  };
}
