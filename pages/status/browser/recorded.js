// Marks recorded input on every page, with the recorded days that are replayed as live data.

/** Sentence about recorded sources; null for live data. `sources`: of /v1/status/public. */
function recordedText(sources) {
  const recorded = sources.filter(({ mode }) => mode === 'recorded');
  if (recorded.length === 0) return null;
  /** Recorded day and shift -> names of sources. */
  const days = new Map();
  for (const { source, recorded_from: from, shift_days: shift } of recorded) {
    if (from === null || shift === null) continue;
    const key = `${from.slice(0, 10)}, shown ${shift} days later`;
    days.set(key, [...(days.get(key) ?? []), source.replaceAll('_', ' ')]);
  }
  const parts = [...days].map(([day, names]) => `${names.join(', ')} of ${day}`);
  const replay = parts.length === 0 ? '' : ` Live data is a replay: ${parts.join('; ')}.`;
  return `Recorded data, not live. The history keeps its true times.${replay}`;
}

try {
  const response = await fetch('/v1/status/public');
  const text = response.ok ? recordedText((await response.json()).sources) : null;
  const note = document.getElementById('recorded');
  if (text !== null && note !== null) {
    note.textContent = text;
    note.hidden = false;
  }
} catch {
  // The page itself reports an API that does not respond.
}
