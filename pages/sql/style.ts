/** Style of /sql, in addition to the sheets of /docs and /app. The editor has its own root and takes its colours from the variables. */
export const sqlCss = `
body.sql { --sql-keyword: #0b5cd5; --sql-string: #176f30; --sql-number: #8a3b00; --sql-name: #6b3fa0; }
@media (prefers-color-scheme: dark) { body.sql { --sql-keyword: #7db1ff; --sql-string: #5fd38a; --sql-number: #ffb77a; --sql-name: #c9a5ff; } }
body.sql > main { max-width: none; }
.sql header > div { max-width: none; }
.sql .sql-page { display: grid; grid-template-columns: 320px minmax(0, 1fr); gap: 16px 24px; align-items: start; }
.sql .sql-side { display: grid; gap: 10px; }
.sql .sql-side > details { margin: 0; border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; background: var(--panel); }
.sql .sql-side > details > summary { font-weight: 600; font-size: 15px; color: var(--text); }
.sql .sql-side input { width: 100%; font-size: 14px; padding: 5px 10px; }
.sql .queries { list-style: none; margin: 6px 0 0; padding: 0; max-height: 34vh; overflow-y: auto; }
.sql .queries li { display: flex; gap: 4px; }
.sql .queries button { flex: 1; text-align: left; font-size: 14px; line-height: 1.35; padding: 5px 8px; border-color: transparent; background: none; color: var(--accent); }
.sql .queries button:hover { background: var(--code); }
.sql .queries button.remove { flex: none; color: var(--muted); }
.sql #saved-panel form { margin-top: 8px; }
.sql #schema-filter { margin-top: 8px; }
.sql #schema { margin-top: 6px; max-height: 62vh; overflow-y: auto; }
.sql #schema details { margin: 0; }
.sql #schema summary { padding: 3px 0; font-size: 14px; overflow-wrap: anywhere; }
.sql #schema details p { margin: 0 0 4px 14px; font-size: 13px; color: var(--muted); overflow-wrap: anywhere; }
.sql #schema ul { list-style: none; margin: 0 0 6px 14px; padding: 0; }
.sql #schema li { padding: 2px 0; font-size: 13px; color: var(--muted); overflow-wrap: anywhere; }
.sql #schema button { font: 13px/1.4 ui-monospace, monospace; padding: 0 6px; margin-right: 6px; background: var(--bg); }
.sql #schema li small { display: block; font-size: 12.5px; }
.sql .sql-work { min-width: 0; }
.sql .editor { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: var(--bg); margin-bottom: 10px; }
.sql .editor:focus-within { outline: 2px solid var(--accent); outline-offset: 1px; }
.sql .sql-work > .bar { margin-bottom: 6px; }
.sql #progress { width: 100%; height: 6px; accent-color: var(--accent); }
.sql #message pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 8px; font: 13.5px/1.5 ui-monospace, monospace; }
.sql #message .status { font-family: system-ui, sans-serif; }
.sql #result { margin-top: 12px; }
.sql .legend:empty { display: none; }
.sql #rows td { max-width: 460px; overflow: hidden; text-overflow: ellipsis; }
.sql #rows th small { display: block; font-weight: 400; font-size: 12px; overflow-wrap: anywhere; }
.sql #chart-panel label { font-size: 14px; color: var(--muted); }
.sql #chart-panel select { font-size: 14px; padding: 4px 8px; max-width: 220px; }
.sql .chart-area { height: 380px; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; position: relative; }
.sql .chart-area svg { display: block; width: 100%; height: 100%; }
.sql .chart-area rect { fill: var(--accent); }
.sql .chart-area rect.below { fill: var(--down); }
.sql .chart-area line { stroke: var(--line); }
.sql .chart-area text { fill: var(--muted); font-size: 12px; font-variant-numeric: tabular-nums; }
@media (max-width: 900px) {
  .sql .sql-page { grid-template-columns: minmax(0, 1fr); }
  .sql .queries, .sql #schema { max-height: 200px; }
  .sql .chart-area { height: 280px; }
}
`;
