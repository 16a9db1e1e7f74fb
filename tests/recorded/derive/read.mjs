// Readers of the source files: gzip, JSON lines, CSV with quotes, decimal text to base units without floats.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const readGz = (file) => gunzipSync(readFileSync(file)).toString('utf8');
export const readJson = (file) => JSON.parse(file.endsWith('.gz') ? readGz(file) : readFileSync(file, 'utf8'));
export const readJsonLines = (file) =>
  readGz(file)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

function splitCsvLine(line) {
  if (!line.includes('"')) return line.split(',');
  const cells = [];
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2]);
  return cells;
}

export function readCsv(file) {
  const [header, ...lines] = readGz(file)
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter(Boolean);
  const names = header.split(',');
  return lines.map((line) => {
    const cells = splitCsvLine(line);
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  });
}

/** Decimal text (also 1e-7) as an integer and the power of ten below it. */
function parseDecimal(text) {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(text));
  if (match === null) throw new Error(`not a decimal: ${text}`);
  const fraction = match[3] ?? '';
  let digits = BigInt(match[2] + fraction);
  let scale = fraction.length - Number(match[4] ?? 0);
  if (scale < 0) {
    digits *= 10n ** BigInt(-scale);
    scale = 0;
  }
  return { digits: match[1] === '-' ? -digits : digits, scale };
}

/** Non-negative quotient rounded half up. */
const divRound = (n, d) => (2n * n + d) / (2n * d);

/** Decimal text in units of 1e-6, rounded half up. */
export function baseUnits(text) {
  const { digits, scale } = parseDecimal(text);
  return scale <= 6 ? digits * 10n ** BigInt(6 - scale) : divRound(digits, 10n ** BigInt(scale - 6));
}

/** price x size in units of 1e-6, rounded half up, exact. */
export function productBaseUnits(price, size) {
  const p = parseDecimal(price);
  const s = parseDecimal(size);
  const scale = p.scale + s.scale;
  const digits = p.digits * s.digits;
  return scale <= 6 ? digits * 10n ** BigInt(6 - scale) : divRound(digits, 10n ** BigInt(scale - 6));
}

/** usdc (base units) / price in base units, rounded half up. */
export function quotientBaseUnits(usdc, price) {
  const p = parseDecimal(price);
  return divRound(usdc * 10n ** BigInt(p.scale), p.digits);
}
