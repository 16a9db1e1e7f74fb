import type { ExampleQuery } from '../../schemas/public-views/example-queries.js';
import type { PublicView } from './spec.js';

/** An example query with its result: names of the columns, and rows as text (null for NULL). */
export interface ExampleQueryResult extends ExampleQuery {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const code = (text: string): string => `\`${text}\``;

function viewSection(view: PublicView): string {
  const properties = [
    `Key: ${view.key.map(code).join(', ')}.`,
    view.fastBy.length === 0 ? 'Small: every query reads all of it.' : `Fast by: ${view.fastBy.join(', ')}.`,
    `Freshness: ${view.freshness}`,
  ];
  const columns = view.columns.map(({ name, type, comment }) => [code(name), code(type), cell(comment)]);
  return [
    `### ${view.name}`,
    view.summary,
    ...(view.caveat === undefined ? [] : [view.caveat]),
    properties.join(' '),
    tableOf(['Column', 'Type', 'Meaning'], columns),
  ].join('\n\n');
}

function exampleQuerySection(query: ExampleQueryResult, number: number): string {
  const rows = query.rows.map((row) => row.map((value) => (value === null ? 'NULL' : cell(value))));
  return [
    `### ${number}. ${query.title}`,
    ...(query.note === undefined ? [] : [query.note]),
    `\`\`\`sql\n${query.sql}\n\`\`\``,
    tableOf(query.columns.map(cell), rows),
  ].join('\n\n');
}

/** docs/SQL.md. */
export function sqlDocument(views: readonly PublicView[], queries: readonly ExampleQueryResult[]): string {
  return `<!-- Generated from processors/public-views by \`npm run docs:sql\`. Do not edit. -->

# SQL for analysts

Database \`market\` (\`ANALYST_DATABASE\`) has ${views.length} views for analysts and their tools. They are stable: columns may be added, none is renamed or changes its
meaning without an entry in [CHANGELOG.md](../CHANGELOG.md). The tables below them are internal and change with every version.

Money is USD as \`Decimal\`, times are \`DateTime64(3, 'UTC')\`, wallets and hashes are lower-case text with \`0x\`. No view needs \`FINAL\`, and \`SELECT *\` works on each.
Every view and column also has its comment in the database: \`DESCRIBE TABLE trades\`, or \`SELECT name, comment FROM system.tables\`.

## Divide decimals

ClickHouse divides in the decimals of the first number and refuses a second one with more of them (code 69). Write \`divideDecimal(a, b, 6)\` for an exact quotient of 6 decimals, or
\`toFloat64(a) / toFloat64(b)\`. Prices of the feeds (\`ticks\`, \`windows\`) are \`Decimal(76, 18)\`: in 38 digits a quotient of two such prices would be wrong without an error. A reader of Parquet
or Arrow with at most 38 digits needs \`CAST(price AS Decimal(38, 18))\`.

## Connect

In the browser: \`/sql\` of the API has an editor, these views and example queries; it needs the key of a paid plan (the key of \`npm start\` is one). \`POST /v1/sql\` is the same for
programs, with a key and without access to port 8123:

\`\`\`sh
curl -s http://127.0.0.1:8080/v1/sql -H "x-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"sql": "SELECT day, match_usd FROM volume_days ORDER BY day", "format": "csv"}'
\`\`\`

Formats are \`json\` (columns with types in \`meta\`, rows in \`data\`, at most \`max_rows\`: 1,000, up to 10,000), \`csv\` and \`parquet\` (all rows). Grafana: \`infra/deploy/grafana\` has a data source and a
dashboard on these views.

The embedded ClickHouse serves its HTTP interface on port 8123. On this machine no user and no password are needed: such clients are user \`analyst\`, who may SELECT,
SHOW, DESCRIBE, EXPLAIN and EXISTS on this database. From other machines the user is \`analyst\` with the password of \`ANALYST_PASSWORD\`.

\`\`\`sh
curl -s http://127.0.0.1:8123 -d "SELECT day, match_usd FROM volume_days ORDER BY day FORMAT CSVWithNames"
\`\`\`

\`\`\`python
import clickhouse_connect

client = clickhouse_connect.get_client(host='127.0.0.1', port=8123, database='market')
rows = client.query('SELECT day, match_usd FROM volume_days ORDER BY day').result_rows
\`\`\`

\`\`\`js
import { createClient } from '@clickhouse/client';

const client = createClient({ url: 'http://127.0.0.1:8123', database: 'market' });
const result = await client.query({ query: 'SELECT day, match_usd FROM volume_days ORDER BY day', format: 'JSONEachRow' });
const rows = await result.json();
\`\`\`

Other clients connect in the same way, but must not ask for ClickHouse's own compression: the embedded server refuses \`compress=1\`. Set \`compress=0\` in the JDBC driver and the Java client (DBeaver,
Metabase), \`Compression::None\` in Rust; \`Accept-Encoding: gzip\` compresses over HTTP.

Integers of 64 bits or more, including token ids, are strings in JSON, because JavaScript numbers would lose digits.

## How volume is counted

When orders match, the exchange logs each maker order's fill and the taker's order, which repeats their sum. So there are two sums with different names:

| Name | Counts | Where | Use it for |
| --- | --- | --- | --- |
| \`match_usd\` | each match once: the fills of maker orders | \`trades\`, \`candles_*\`, \`volume_days\` | volume of a market, a day, the venue |
| \`party_usd\` | each party of a match: every order's fill, including takers' | \`trade_parties\`, \`pnl_events\`, \`wallet_days\`, \`volume_days\` | volume of a wallet |

Summed over all wallets \`party_usd\` is about twice \`match_usd\`. It is not exactly twice: when two buyers mint a pair of outcomes, one pays for example 0.60 and the other 0.40 per pair;
the match counts the maker's payment, the parties count both. The catalogue's volume (\`catalogue_volume_usd\`) is published by the venue, which counts by different rules.

## Speed

Filter on a column named under "Fast by": the query then reads a small part of a view of any size. Names are joined to tokens when a query runs, so for one market write
\`token_id IN (SELECT token_id FROM tokens WHERE slug = '...')\`. \`EXPLAIN ESTIMATE SELECT ...\` returns the number of rows that a query would read.

## Views

${tableOf(
  ['View', 'A row is'],
  views.map(({ name, summary }) => [`[${name}](#${name})`, cell(summary)]),
)}

${views.map(viewSection).join('\n\n')}

## Example queries

Each with its result on the recorded history (\`RECORDED_HISTORY_ONLY=1 npm start\`). The test suite runs them with curl, Python and JavaScript and compares the results.

${queries.map((query, i) => exampleQuerySection(query, i + 1)).join('\n\n')}
`;
}
