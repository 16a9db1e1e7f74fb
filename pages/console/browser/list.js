// List of the newest frames: elements exist only for the rows in view.

const ROW_PX = 24;
const MAX_ENTRIES = 5000;

/** `box`: scrolling element. `render(row, entry)`: fills a row. `onSelect(entry)`: called for the selected entry. */
export function createFrameList({ box, render, onSelect }) {
  const canvas = document.createElement('div');
  canvas.className = 'canvas';
  box.append(canvas);
  let entries = [];
  let shown = [];
  let fits = () => true;
  let selected = null;
  let follow = true;
  let drawing = false;
  const rows = [];

  const draw = () => {
    drawing = false;
    canvas.style.height = `${shown.length * ROW_PX}px`;
    if (follow) box.scrollTop = box.scrollHeight;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW_PX) - 2);
    const count = Math.min(shown.length - first, Math.ceil(box.clientHeight / ROW_PX) + 4);
    while (rows.length < count) {
      const row = document.createElement('div');
      row.className = 'row';
      row.setAttribute('role', 'option');
      rows.push(row);
      canvas.append(row);
    }
    rows.forEach((row, index) => {
      const entry = shown[first + index];
      row.hidden = index >= count;
      if (row.hidden) return;
      row.style.transform = `translateY(${(first + index) * ROW_PX}px)`;
      row.id = `frame-${entry.number}`;
      row.setAttribute('aria-selected', String(entry === selected));
      row.setAttribute('aria-posinset', String(first + index + 1));
      row.setAttribute('aria-setsize', String(shown.length));
      if (row.entry === entry) return;
      row.entry = entry;
      render(row, entry);
    });
    if (selected === null) box.removeAttribute('aria-activedescendant');
    else box.setAttribute('aria-activedescendant', `frame-${selected.number}`);
  };
  const redraw = () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(draw);
  };
  const select = (entry) => {
    if (entry === undefined) return;
    selected = entry;
    follow = false;
    const top = shown.indexOf(entry) * ROW_PX;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW_PX > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW_PX - box.clientHeight;
    onSelect(entry);
    redraw();
  };

  box.addEventListener('scroll', () => {
    follow = box.scrollTop + box.clientHeight >= box.scrollHeight - ROW_PX;
    redraw();
  });
  box.addEventListener('click', (event) => select(event.target.closest('.row')?.entry));
  box.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW_PX) - 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -shown.length, End: shown.length };
    const step = steps[event.key];
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    const from = selected === null ? shown.length : shown.indexOf(selected);
    select(shown[Math.min(shown.length - 1, Math.max(0, from + step))]);
    if (event.key === 'End') follow = true;
  });
  new ResizeObserver(redraw).observe(box);

  return {
    add(entry) {
      entries.push(entry);
      if (fits(entry)) shown.push(entry);
      if (entries.length > MAX_ENTRIES * 1.2) {
        entries = entries.slice(-MAX_ENTRIES);
        const before = shown.length;
        shown = entries.filter(fits);
        if (!follow) box.scrollTop -= (before - shown.length) * ROW_PX;
      }
      redraw();
    },
    filter(test) {
      fits = test;
      shown = entries.filter(fits);
      follow = true;
      redraw();
    },
    clear() {
      entries = [];
      shown = [];
      selected = null;
      follow = true;
      redraw();
    },
    get length() {
      return shown.length;
    },
  };
}
