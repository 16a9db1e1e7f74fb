import { type Config, reachableHost, redactConfig } from '../config/config.js';
import { HISTORY_PREFIX } from './report-load-progress.js';

/** State of an ingest source, from the response of /v1/status. */
export interface SourceSummary {
  readonly source: string;
  readonly mode: string;
  readonly detail: string;
  readonly shiftDays: number | null;
}

export interface Addresses {
  readonly api: string;
  readonly socket: string;
  readonly orderbook: string;
  readonly clickhouse: string;
}

export function addressesOf(config: Config): Addresses {
  const host = reachableHost(config.host);
  return {
    api: `http://${host}:${config.ports.api}`,
    socket: `ws://${host}:${config.ports.gateway}/ws`,
    orderbook: `ws://${host}:${config.ports.orderbook}/ws`,
    clickhouse: config.clickhouse.url.replace(/\/$/, ''),
  };
}

/** Whether chain, oracle and catalogue have said what they read; each does so at its start. */
export const areSourcesDescribed = (sources: readonly SourceSummary[]): boolean =>
  ['chain', 'oracle', 'catalog'].every((name) =>
    sources.some(({ source, detail }) => source === name && detail !== ''),
  );

/** `, shifted by 243 whole days (chain) and 120 whole days (catalog, oracle)`; sources with different recorded days have different shifts. */
function formatShift(sources: readonly SourceSummary[]): string {
  const byShift = new Map<number, string[]>();
  for (const { source, shiftDays } of sources) {
    if (shiftDays !== null) byShift.set(shiftDays, [...(byShift.get(shiftDays) ?? []), source]);
  }
  const parts = [...byShift].map(([days, names]) => `${days} whole days (${names.join(', ')})`);
  return parts.length === 0 ? '' : `, shifted by ${parts.join(' and ')}`;
}

/** Printed once, when every process is ready or still loads. */
export const STARTED_MESSAGE = 'Oddstream is up.';

/** First line of a start: where data, log and tables are, and what is read. URLs without credentials. */
export function startingText(config: Config): string {
  const { dataDir, logUrl, clickhouse, sources } = redactConfig(config);
  const tables = clickhouse.embedded === null ? clickhouse.url : 'the embedded ClickHouse';
  const input = sources.mode === 'live' ? `live, chain ${sources.rpcUrl}` : `recorded, ${sources.recordedDir}`;
  return `Oddstream is starting. Data ${dataDir}; log ${logUrl}; tables in ${tables}; input ${input}. Settings: docs/CONFIGURATION.md.`;
}

/** The start-up text: addresses, and commands to copy and paste. */
export function startBanner(options: {
  addresses: Addresses;
  key: string | null;
  /** Database of the public views. */
  database: string;
  sources: readonly SourceSummary[];
  /** The file with the key when an earlier start has printed it; the key is then not printed. */
  keyFile?: string | null;
  /** User of the example query when a password is needed; the password is not printed. */
  login?: string | null;
  /** Shell expression of the user's password; default `$CLICKHOUSE_PASSWORD`. */
  password?: string;
  /** Checks that fail and are retried. */
  failing?: readonly string[];
  /** Checks that are still loading. */
  loading?: readonly string[];
  /** Processes that stay down until an operator fixes the reason, with the reason. */
  down?: readonly string[];
}): string {
  const { addresses, key, keyFile = null, sources, failing = [], loading = [], down = [] } = options;
  const rows: [string, string][] = [
    ['REST', addresses.api],
    ['API reference', `${addresses.api}/docs`],
    // Browsers do not send the fragment after #, so the key reaches no server and no log.
    ['Markets and wallets', `${addresses.api}/app${key === null || keyFile !== null ? '' : `#key=${key}`}`],
    ['SQL in the browser', `${addresses.api}/sql${key === null || keyFile !== null ? '' : `#key=${key}`}`],
    ['Status', `${addresses.api}/status`],
    ['Event socket', addresses.socket],
    ['Order-book socket', addresses.orderbook],
    ['Stream console', `${addresses.api}/console`],
    ['SQL (ClickHouse HTTP)', addresses.clickhouse],
  ];
  const list = (texts: readonly string[]) => texts.map((text) => `  - ${text}`);
  const lines = failing.length + down.length === 0 ? ['', STARTED_MESSAGE, ''] : [''];
  if (down.length > 0) {
    lines.push('Oddstream is not up. Fix the following, stop Oddstream (Ctrl-C) and start it again:');
    lines.push(...list(down), '');
  }
  if (failing.length > 0) {
    lines.push(down.length > 0 ? 'Failing, retried:' : 'Oddstream runs, but is not ready yet:', ...list(failing), '');
  }
  for (const [name, value] of rows) lines.push(`  ${name.padEnd(22)} ${value}`);
  if (loading.length > 0) lines.push('', '  Still loading:', ...loadingLines(loading, `${addresses.api}/status`));
  const recorded = sources.filter((source) => source.mode === 'recorded');
  if (recorded.length > 0) {
    lines.push(
      '',
      '  Recorded data: the history has its real timestamps; the live tail replays a recorded day with current',
      `  timestamps${formatShift(recorded)}.`,
      '  For live data: ODDSTREAM_DATA=data-live POLYGON_RPC_URL=https://... npm start',
    );
  }
  const login = options.login ? `-u "${options.login}:${options.password ?? '$CLICKHOUSE_PASSWORD'}" ` : '';
  const quoted = keyFile === null ? `'${key ?? '<your key>'}'` : `"$(cat '${keyFile}')"`;
  const inText = quoted.slice(1, -1);
  const header = quoted.startsWith('"') ? `"x-api-key: ${inText}"` : `'x-api-key: ${inText}'`;
  const socket = quoted.startsWith('"') ? `"${addresses.socket}?key=${inText}"` : `'${addresses.socket}?key=${inText}'`;
  if (key === null) {
    lines.push('', '  No ready key, because a port is open beyond this machine. Create a key:');
    lines.push(`    curl -X POST ${addresses.api}/v1/keys -H 'content-type: application/json' -d '{"name":"first"}'`);
  } else lines.push('', `  Your key (enterprise plan, this machine only): ${keyFile === null ? key : `in ${keyFile}`}`);
  lines.push(
    '',
    '  Try it:',
    `    curl -s '${addresses.api}/v1/crypto/candles?symbol=BTC' -H ${header}`,
    `    curl -s '${addresses.api}/v3/trades?limit=3' -H ${header}`,
    `    node infra/up/watch.mjs ${socket} '{"action":"subscribe","type":"trades"}'`,
    `    curl -s ${login}'${addresses.clickhouse}/?database=${options.database}' -d 'SELECT count() AS matches, sum(match_usd) AS usd FROM trades'`,
    '',
    '  Ctrl-C stops everything.',
    '',
  );
  return lines.join('\n');
}

const MAX_LOADING_LINES = 3;

/** The progress of the history first, since it sums up most of the others, and few lines, so that the addresses stay on the screen. */
function loadingLines(loading: readonly string[], statusPage: string): string[] {
  const isHistory = (text: string) => text.startsWith(HISTORY_PREFIX);
  const sorted = [...loading.filter(isHistory), ...loading.filter((text) => !isHistory(text))];
  const more = sorted.length - MAX_LOADING_LINES;
  return [
    ...sorted.slice(0, MAX_LOADING_LINES).map((text) => `  - ${text}`),
    ...(more > 0 ? [`  - and ${more} more: ${statusPage}`] : []),
  ];
}
