/** A horizontal bar, with the range of its values as a line. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Printed at the end of the bar. */
  readonly text: string;
}

const WIDTH = 860;
const LABEL_WIDTH = 400;
const BAR_WIDTH = 340;
const ROW = 24;
const TOP = 44;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const at = (x: number) => x.toFixed(1);

/**
 * Bar chart on a logarithmic scale, as values of different benchmarks span several orders of magnitude. `reference`: a value with a vertical line and its
 * meaning. Follows the colour scheme of the reader. All values are positive.
 */
export function barChart(title: string, bars: readonly Bar[], reference?: { value: number; text: string }): string {
  const all = [...bars.flatMap(({ low, high }) => [low, high]), ...(reference === undefined ? [] : [reference.value])];
  const first = Math.floor(Math.log10(Math.min(...all)) * 2) / 2 - 0.1;
  const last = Math.max(Math.ceil(Math.log10(Math.max(...all)) * 2) / 2, first + 0.6);
  const x = (value: number) => LABEL_WIDTH + ((Math.log10(value) - first) / (last - first)) * BAR_WIDTH;
  const height = TOP + bars.length * ROW + (reference === undefined ? 8 : 28);
  const rows = bars.map(({ label, value, low, high, text }, n) => {
    const y = TOP + n * ROW;
    const middle = y + ROW / 2 - 2;
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="bar" x="${LABEL_WIDTH}" y="${y + 2}" width="${at(x(value) - LABEL_WIDTH)}" height="${ROW - 8}"/>`,
      `<path class="range" d="M${at(x(low))} ${middle}H${at(x(high))}"/>`,
      `<text x="${at(x(Math.max(value, high)) + 8)}" y="${middle + 4}">${escaped(text)}</text>`,
    ].join('');
  });
  const line =
    reference === undefined
      ? ''
      : `<path class="reference" d="M${at(x(reference.value))} ${TOP - 6}V${TOP + bars.length * ROW}"/><text class="note" x="${at(x(reference.value))}" y="${height - 10}" text-anchor="middle">${escaped(reference.text)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #1b2430; }
.title { font-weight: 600; font-size: 15px; }
.note { fill: #5b6675; }
.bar { fill: #7fb0f5; }
.range { stroke: #0b3d8c; stroke-width: 2; }
.reference { stroke: #5b6675; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e3e8ef; }
.note { fill: #9aa6b5; }
.bar { fill: #2d5fa8; }
.range { stroke: #cfe0ff; }
.reference { stroke: #9aa6b5; }
}
</style>
<text class="title" x="8" y="22">${escaped(title)}</text>
${[...rows, line].filter((part) => part !== '').join('\n')}
</svg>
`;
}
