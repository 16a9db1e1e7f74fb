// Creates elements without HTML text.

import { local, profit, short, utc, walletPath } from './format.js';

export const $ = (id) => document.getElementById(id);

/** Creates an element with attributes (`class`, `href`, ...; false and null are omitted) and children. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const bone = () => el('span', { class: 'bone' });

/** Time in UTC, with local time on hover; narrow screens hide the year. */
export const time = (seconds) => {
  const text = utc(seconds);
  const attributes = { datetime: new Date(seconds * 1000).toISOString(), title: `${local(seconds)} here` };
  return el('time', attributes, el('span', { class: 'wide' }, text.slice(0, 5)), text.slice(5));
};

export const wallet = (address, isRow = false) =>
  el('a', { href: walletPath(address), class: isRow ? 'row mono' : 'mono', title: address }, short(address));

/** A number whose sign and colour show gain or loss. */
export const gain = (value, text = profit(value)) =>
  el('span', { class: Number(value) > 0 ? 'good' : Number(value) < 0 ? 'bad-number' : 'dim' }, text);

export const side = (word) => el('span', { class: word === 'BUY' ? 'good' : 'bad-number' }, word);

export function title(text) {
  $('title').textContent = text;
  document.title = `${text} · Oddstream`;
}

/** Value of the checked radio button of a name; undefined without one. */
export const chosenOf = (name) => document.querySelector(`input[name=${name}]:checked`)?.value;
export function choose(name, value) {
  for (const input of document.querySelectorAll(`input[name=${name}]`)) input.checked = input.value === value;
}

/** Copies a text and says so on the button. */
export async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Copying is blocked: select the text';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
}

/** A number with its name and notes. */
export const tile = (name, value, ...notes) =>
  el('div', {}, el('dt', {}, name), el('dd', {}, value, notes.length === 0 ? null : el('small', {}, ...notes)));
