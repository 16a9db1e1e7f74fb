// Live line chart of oracle prices with lightweight-charts, which is loaded at the first price.

import { chartLook, dark, loadCharts } from './library.js';

const KEPT_POINTS = 3600;
/** Spot, 30 s, 60 s. */
const LINES = {
  spot: { title: 'spot', color: '#1f8a5b' },
  30: { title: '30 s', color: '#c2731d' },
  60: { title: '60 s', color: '#8257e5' },
};

/** `box`: element of the chart; `select`: selection of the feed, filled as feeds appear. */
export function createPriceChart({ box, select, onError }) {
  /** feed -> line -> points, ascending time. */
  const feeds = new Map();
  let chart;
  let series = new Map();

  const draw = async () => {
    const charts = await loadCharts();
    chart ??= charts.createChart(box, chartLook());
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
  dark.addEventListener('change', () => chart?.applyOptions(chartLook()));

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
