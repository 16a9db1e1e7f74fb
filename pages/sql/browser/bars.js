// A bar chart as SVG.

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [1000, 380];
const [LEFT, RIGHT, TOP, BOTTOM] = [8, 8, 28, 30];
const MAX_LABEL = 26;

function shape(name, attributes, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== null) element.textContent = text;
  return element;
}

const cut = (text) => (text.length <= MAX_LABEL ? text : `${text.slice(0, MAX_LABEL - 1)}…`);
const number = (value) => value.toLocaleString('en-US', { maximumSignificantDigits: 6 });

/** SVG with a bar for each `{ label, value }`; `name`: of the values. Bars have their label and value as a tooltip. */
export function barChart(bars, name) {
  const [low, high] = [Math.min(0, ...bars.map(({ value }) => value)), Math.max(0, ...bars.map(({ value }) => value))];
  const scale = (HEIGHT - TOP - BOTTOM) / (high - low || 1);
  const y = (value) => TOP + (high - value) * scale;
  const step = (WIDTH - LEFT - RIGHT) / bars.length;
  const svg = shape('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': `Bars of ${name}, ${bars.length} values from ${number(low)} to ${number(high)}. The same numbers are in the table.`,
  });
  svg.append(shape('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y(0), y2: y(0) }));
  svg.append(
    shape('text', { x: LEFT, y: 16 }, `${name}, up to ${number(high)}${low < 0 ? `, down to ${number(low)}` : ''}`),
  );
  bars.forEach(({ label, value }, index) => {
    const height = Math.abs(y(value) - y(0));
    const bar = shape('rect', {
      x: LEFT + index * step + step * 0.1,
      y: value < 0 ? y(0) : y(value),
      width: Math.max(1, step * 0.8),
      height: Math.max(value === 0 ? 0 : 1, height),
      class: value < 0 ? 'below' : '',
    });
    bar.append(shape('title', {}, `${label}: ${number(value)}`));
    svg.append(bar);
  });
  const every = Math.ceil(bars.length / Math.floor((WIDTH - LEFT - RIGHT) / 190));
  bars.forEach(({ label }, index) => {
    if (index % every !== 0) return;
    svg.append(shape('text', { x: LEFT + index * step + step * 0.1, y: HEIGHT - 10 }, cut(label)));
  });
  return svg;
}
