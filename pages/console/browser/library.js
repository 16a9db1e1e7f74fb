// lightweight-charts, loaded when a chart is drawn, with the colours of the page.

export const dark = matchMedia('(prefers-color-scheme: dark)');
let library;

export function loadCharts() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = '/console/lightweight-charts.js';
    script.onload = () => resolve(window.LightweightCharts);
    script.onerror = () => {
      library = undefined;
      script.remove();
      reject(new Error('the chart library did not load'));
    };
    document.head.append(script);
  });
  return library;
}

export const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

export const chartLook = () => ({
  layout: {
    background: { color: colour('--bg') },
    textColor: colour('--muted'),
    fontFamily: 'system-ui, sans-serif',
  },
  grid: { vertLines: { color: colour('--line') }, horzLines: { color: colour('--line') } },
  timeScale: { timeVisible: true, secondsVisible: true, borderColor: colour('--line') },
  rightPriceScale: { borderColor: colour('--line') },
  autoSize: true,
});
