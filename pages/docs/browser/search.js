const MAX_FOUND = 12;
const input = document.getElementById('search');
const found = document.getElementById('found');
let entries;

/** Sections of the guides and endpoints of the reference; read when the search is used first. */
async function readEntries() {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()).map((entry) => ({
    ...entry,
    titleLower: entry.title.toLowerCase(),
    textLower: `${entry.page} ${entry.text}`.toLowerCase(),
  }));
}

/** Every word must occur; words in the title count more than words in the text. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => {
      const scores = words.map((word) => {
        // The path of an endpoint follows its method.
        if (entry.titleLower === word || entry.titleLower.endsWith(` ${word}`)) return 4;
        if (entry.titleLower.startsWith(word)) return 3;
        if (entry.titleLower.includes(word)) return 2;
        return entry.textLower.includes(word) ? 1 : 0;
      });
      return { entry, score: scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => entry);
}

function show(list) {
  found.replaceChildren(
    ...list.map(({ page, title, address }) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = address;
      link.textContent = title;
      const where = document.createElement('small');
      where.textContent = page;
      item.append(link, ' ', where);
      return item;
    }),
  );
}

function note(text) {
  const item = document.createElement('li');
  item.textContent = text;
  found.replaceChildren(item);
}

input.addEventListener('input', async () => {
  try {
    entries ??= await readEntries();
  } catch (error) {
    note(`The search cannot be loaded: ${error.message}`);
    return;
  }
  const list = search(input.value);
  if (list.length === 0 && input.value.trim() !== '') note('Nothing found.');
  else show(list);
});
// The reference opens the operation of its address only when it loads.
found.addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link === null || link.pathname !== location.pathname || !link.hash.startsWith('#/')) return;
  event.preventDefault();
  location.hash = link.hash;
  location.reload();
});
input.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') found.querySelector('a')?.click();
  if (event.key === 'ArrowDown') found.querySelector('a')?.focus();
});
found.addEventListener('keydown', (event) => {
  const links = [...found.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'ArrowDown') links[at + 1]?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else return;
  event.preventDefault();
});
