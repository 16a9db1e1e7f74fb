// The backtest of one wallet under the copier's own conditions: cash flow of the wallet and of the copier, day by day.

import { colour, dark, loadCharts } from '/console/library.js';
import { problem } from './api.js';
import { chartOptions, numberTable, panel, setLegend } from './charts.js';
import { copyGet, waitS } from './copy-requests.js';
import { $, el, gain, tile, time } from './dom.js';
import { count, profit, short, usd, utc } from './format.js';

/** After the last move of a slider. */
const SETTLE_MS = 400;

/** The liquidity slider is logarithmic: 0, then half powers of ten up to 1,000,000 USDC. */
const liquidityOf = (position) => (position === 0 ? 0 : Math.round(10 ** position));
const conditions = () => ({
  slippage_pct: Number($('slippage').value),
  delay_seconds: Number($('delay').value),
  min_liquidity_usd: liquidityOf(Number($('liquidity').value)),
});

function showValues() {
  const { slippage_pct: slippage, delay_seconds: delay, min_liquidity_usd: liquidity } = conditions();
  $('slippage-value').textContent = `${slippage} %`;
  $('delay-value').textContent = delay === 0 ? 'none' : `${delay} s`;
  $('liquidity-value').textContent = liquidity === 0 ? 'none' : usd(liquidity);
}

const tilesOf = (body) => [
  tile('Wallet', gain(body.actual_pnl_usdc), `${count(body.trade_count)} trades`),
  tile(
    'Copier',
    gain(body.backtest_copy_pnl_usdc),
    body.toxic_for_copying ? 'toxic for copying' : `${usd(body.slippage_amount_usdc)} less`,
  ),
  tile('Realized', gain(body.total_realized_pnl_usdc), `${count(body.positions_closed)} positions`),
  tile(
    'Not copied',
    count(body.copier.fills_below_liquidity),
    `${count(body.copier.fills_without_next_fill)} without a later price`,
  ),
];

/** The panel of one wallet's backtest; hidden until a wallet is chosen. */
export function createCopyScore() {
  const { box, canvas, state, legend, details, rows } = panel('score');
  let chart = null;
  let lines = [];
  let days = [];
  let request = null;
  let settling;

  const colours = () => [{ color: colour('--muted') }, { color: colour('--accent') }];
  const describe = (day) =>
    setLegend(
      legend,
      day === undefined
        ? null
        : [
            ['', utc(day.t).slice(0, 10)],
            ['Wallet', profit(day.actual)],
            ['Copier', profit(day.backtest)],
          ],
    );

  const draw = async () => {
    const charts = await loadCharts();
    if (chart === null) {
      chart = charts.createChart(canvas, chartOptions());
      lines = colours().map((options) =>
        chart.addSeries(charts.LineSeries, {
          ...options,
          lineWidth: 2,
          priceFormat: { type: 'custom', minMove: 0.01, formatter: profit },
        }),
      );
      chart.subscribeCrosshairMove(({ time: at }) => describe(days.find(({ t }) => t === at) ?? days.at(-1)));
      dark.addEventListener('change', () => {
        chart.applyOptions(chartOptions());
        colours().forEach((options, i) => {
          lines[i].applyOptions(options);
        });
      });
    }
    lines[0].setData(days.map(({ t, actual }) => ({ time: t, value: actual })));
    lines[1].setData(days.map(({ t, backtest }) => ({ time: t, value: backtest })));
    chart.timeScale().fitContent();
  };

  const list = () => {
    if (!details.open) return;
    numberTable(rows, {
      label: 'Cash flow',
      names: ['Day, UTC', 'Wallet', 'Copier'],
      rows: days.toReversed().map(({ t, actual, backtest }) => [time(t), gain(actual), gain(backtest)]),
      foot: [`${count(days.length)} days`],
    });
  };

  /** Says how long the limit of the API makes us wait, until `mine` has a response or is replaced. */
  const countdown = (mine) => {
    if (request !== mine) return;
    const seconds = waitS();
    $('score-status').textContent = seconds > 0 ? `Redraws in ${seconds} s` : 'Computing…';
    setTimeout(() => countdown(mine), 500);
  };

  /** Removes the numbers of another wallet, period or of other conditions. */
  const clear = () => {
    days = [];
    $('score-tiles').replaceChildren();
    for (const one of lines) one.setData([]);
    describe();
    list();
  };

  const load = async (address, period) => {
    const mine = {};
    request = mine;
    clear();
    box.setAttribute('aria-busy', 'true');
    state.replaceChildren();
    countdown(mine);
    try {
      const body = await copyGet(address, { period, ...conditions(), include_curve: 1 }, () => request !== mine);
      if (request !== mine || body === null) return;
      days = body.curve;
      $('score-tiles').replaceChildren(...tilesOf(body));
      if (days.length === 0) state.replaceChildren(el('p', { class: 'dim' }, 'No activity in this period.'));
      await draw();
      describe(days.at(-1));
      list();
      $('score-status').textContent = body.partial
        ? 'Cut off after 30 s: the numbers are of a part of the window.'
        : '';
    } catch (error) {
      if (request !== mine) return;
      state.replaceChildren(problem(error, () => void load(address, period)));
      $('score-status').textContent = '';
    }
    if (request === mine) request = null;
    box.removeAttribute('aria-busy');
  };

  let shown = null;
  for (const id of ['slippage', 'delay', 'liquidity'])
    $(id).addEventListener('input', () => {
      showValues();
      clearTimeout(settling);
      settling = setTimeout(() => {
        if (shown !== null) void load(shown.address, shown.period);
      }, SETTLE_MS);
    });
  details.addEventListener('toggle', list);
  showValues();

  return {
    show(address, period) {
      shown = { address, period };
      $('score-panel').hidden = false;
      $('score-title').textContent = `Backtest of ${short(address)}`;
      return load(address, period);
    },
    hide() {
      shown = null;
      request = null;
      $('score-panel').hidden = true;
    },
  };
}
