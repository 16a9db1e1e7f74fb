// Fills the stored key into the commands of a guide.

import { readKey } from '/console/key.js';

const PLACEHOLDER = /\$KEY\b|YOUR_KEY/g;
const key = readKey();

function fillKey() {
  for (const block of document.querySelectorAll('article pre')) {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
      text.data = text.data.replace(PLACEHOLDER, key);
  }
}
if (key !== '') fillKey();
