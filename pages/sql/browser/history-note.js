// Says while the history is loading that results are of its loaded part.

const POLL_INTERVAL_MS = 5_000;

/** Percentage over all tables, rounded down; 100 when there are none to wait for. */
function loadedPercent(tables) {
  const percents = tables.map(({ state, percent }) =>
    state === 'loaded' || state === 'lagging' ? 100 : (percent ?? 0),
  );
  return percents.length === 0 ? 100 : Math.floor(percents.reduce((sum, one) => sum + one, 0) / percents.length);
}

/** Shows the note in `box` until the history is loaded. */
export async function noteHistory(box) {
  for (;;) {
    const status = await fetch('/v1/status/public', { cache: 'no-store' })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    const percent = status === null ? null : loadedPercent(status.tables);
    box.hidden = percent === null || percent === 100;
    if (percent === 100) return;
    if (percent !== null) box.textContent = `The history is loading: ${percent} %. Results are of the loaded part.`;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
