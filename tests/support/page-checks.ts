import type { Page } from 'playwright-core';

/** What a page was answered to a request whose address holds a text; fails unless that is a 200. */
export async function responseOf<T>(page: Page, part: string): Promise<T> {
  const response = await page.waitForResponse((answer) => answer.url().includes(part));
  if (response.status() !== 200) throw new Error(`${response.url()}: ${response.status()} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Texts of the cells of a table's rows; to be evaluated in the page. */
export const cellsOf = (list: string) =>
  `[...document.querySelectorAll('#${list} tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`;

/** Texts whose contrast with what is behind them is below 4.5 (3 for large ones), as `text: ratio`; to be evaluated in the page. */
export const CONTRASTS = `(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
    if (own === '' || element.closest('script, noscript, [hidden]') !== null || element.offsetParent === null) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parse(style.color)), luminance(behind(element))].sort((one, two) => two - one);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) weak.push(own + ': ' + ratio.toFixed(2));
  }
  return weak;
})()`;
