// What needs attention, as sentences: alarms, sources that are not current, blocks that were missed, tables that lag.

/** Seconds as `12 s`, `3 min`, `5 h`, `2 d`. */
export function ageText(seconds) {
  if (seconds === null) return '–';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

const STALE = {
  disconnected: 'is disconnected',
  no_report: 'does not report',
  no_events: 'is connected and sends nothing',
};
const at = (iso) => (iso === null ? '' : `, since ${iso.slice(0, 19).replace('T', ' ')} UTC`);
const blocks = ({ from_block: from, to_block: to }) => (from === to ? `block ${from}` : `blocks ${from} to ${to}`);

/** Sentences of a response of /v1/status/public. `problems`: need attention; `notes`: for information. */
export function noticesOf(body) {
  const problems = [];
  const notes = [];
  if (!body.tables_connected) problems.push('The tables cannot be read.');
  for (const alarm of body.alarms ?? []) problems.push(alarm.message);
  for (const one of body.sources) {
    const stale = STALE[one.stale] ?? (one.health === 'connected' ? null : `is ${one.health}`);
    if (stale !== null) problems.push(`Source ${one.source} ${stale}${at(one.stale_since)}.`);
    if (one.phase === 'stopped') problems.push(`Source ${one.source} has stopped.`);
    if (one.phase === 'history') {
      const part = one.progress === null ? '' : `: ${Math.floor(one.progress * 100)} %`;
      notes.push(`Source ${one.source} is reading its history${part}.`);
    }
    if (one.gap !== null)
      notes.push(
        `The events of ${blocks(one.gap)} were never sent on the event socket (${one.gap.at.slice(0, 19).replace('T', ' ')} UTC); tables and REST have them.`,
      );
    if (one.reread !== null)
      notes.push(
        `${blocks(one.reread)[0].toUpperCase()}${blocks(one.reread).slice(1)} were missed live and read again.`,
      );
  }
  if (body.stream?.stale) problems.push(`The event stream ${STALE[body.stream.stale]}${at(body.stream.stale_since)}.`);
  for (const { table, state, percent, lag_seconds: lag } of body.tables) {
    if (state === 'lagging') problems.push(`Table group ${table} is ${ageText(lag)} behind the log.`);
    if (state === 'empty' || state === 'loading')
      notes.push(`Table group ${table} is loading${percent === null ? '' : `: ${percent} %`}.`);
  }
  if (body.sources.length === 0) notes.push('No source has reported yet: the page waits for the ingest process.');
  return { problems, notes };
}
