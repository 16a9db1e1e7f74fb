import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** The JSON body of the next response whose URL contains a text; fails unless its status is 200. */
export async function responseOf<T>(page: Page, urlText: string): Promise<T> {
  const response = await page.waitForResponse((candidate) => candidate.url().includes(urlText));
  if (response.status() !== 200) throw new Error(`${response.url()}: ${response.status()} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Texts of the cells of a table's rows; to be evaluated in the page. */
export const cellsOf = (list: string) =>
  `[...document.querySelectorAll('#${list} tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`;

/** Window widths and colour schemes in which a page is checked: each width and each scheme once. */
export const LOOKS = [
  [1440, 'light'],
  [390, 'dark'],
] as const;

/** Texts whose contrast with their background is below 4.5 (3 for large ones), as `text: ratio`; to be evaluated in the page. */
export const CONTRASTS = `(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const backgroundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
    if (text === '' || element.closest('script, noscript, [hidden]') !== null || element.offsetParent === null) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parse(style.color)), luminance(backgroundOf(element))].sort((one, two) => two - one);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) weak.push(text + ': ' + ratio.toFixed(2));
  }
  return weak;
})()`;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with a page, as rule and element. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}
