/** Style of the console, in addition to the sheet of the other pages (colours, fonts, header). */
export const consoleCss = `
body.console > main { max-width: none; padding: 16px 24px; display: grid; grid-template-columns: 320px minmax(0, 1fr); gap: 16px 24px; align-items: start; }
body.console header > div { max-width: none; }
.console h1 { grid-column: 1 / -1; margin: 0; font-size: 20px; }
.console h2 { font-size: 14px; margin: 0; }
.console form { display: grid; gap: 10px; }
.console label, .console legend { font-size: 13px; color: var(--muted); display: block; }
.console fieldset { border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px 10px; margin: 0; }
.console fieldset label { display: inline-flex; gap: 4px; align-items: center; margin-right: 10px; color: var(--text); }
.console input, .console select, .console textarea { width: 100%; font: inherit; font-size: 14px; padding: 6px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--bg); color: var(--text); }
.console input[type=checkbox], .console input[type=radio] { width: auto; }
.console textarea { resize: vertical; min-height: 34px; font-family: ui-monospace, monospace; font-size: 13px; }
.console .two { display: grid; grid-template-columns: 1fr 1fr; gap: 10px; }
.console button { font: inherit; font-size: 14px; padding: 6px 14px; border-radius: 6px; border: 1px solid var(--line); background: var(--panel); color: var(--text); cursor: pointer; }
.console button.primary { background: #1f6feb; border-color: #1f6feb; color: #ffffff; font-weight: 600; }
.console :is(input, select, textarea, button, #frames, summary):focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.console #form-error:empty { display: none; }
.console .error, .console #form-error { color: #b42318; }
.console .bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
.console .bar input { flex: 1 1 180px; width: auto; }
.console dl { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0; font-variant-numeric: tabular-nums; }
.console dl div { display: flex; gap: 6px; font-size: 13px; }
.console dt { color: var(--muted); }
.console dd { margin: 0; font-weight: 600; min-width: 5ch; }
.console .right { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; min-width: 0; }
.console form > div:not([hidden], #form-error), .console details[open] { display: grid; gap: 10px; }
.console summary { font-size: 14px; cursor: pointer; }
.console #frames { height: 44vh; min-height: 220px; overflow-y: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--code); }
.console .canvas { position: relative; }
.console .row { position: absolute; left: 0; right: 0; height: 24px; line-height: 24px; padding: 0 10px; display: flex; gap: 12px; white-space: nowrap; font-size: 13px; cursor: default; }
.console .row[hidden] { display: none; }
.console .row[aria-selected=true] { background: var(--accent); color: var(--bg); }
.console .row[aria-selected=true] span { color: inherit; }
.console .row .at, .console .row .seq { color: var(--muted); font-variant-numeric: tabular-nums; flex: none; }
.console .row .at { width: 92px; }
.console .row .seq { width: 76px; text-align: right; }
.console .row .type { flex: none; width: 150px; font-weight: 600; }
.console .row .what { overflow: hidden; text-overflow: ellipsis; }
.console .row.control .type { color: var(--muted); font-weight: 400; }
.console .row.bad .type { color: #b42318; }
.console section > .bar { margin-bottom: 6px; }
.console #position { margin: 0 0 6px; min-height: 1.4em; }
.console #position:not(.error) { color: var(--muted); }
.console #preset-now { margin: -4px 0 0; min-height: 2.8em; font-size: 13px; color: var(--muted); }
.console #silence { margin: 0 0 6px; }
.console #silence:empty { display: none; }
.console pre { margin: 0; background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 10px; font-size: 12.5px; line-height: 1.5; overflow: auto; max-height: 36vh; }
.console #chart { height: 240px; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.console #chart-feed { width: auto; }
@media (prefers-color-scheme: dark) { .console .error, .console #form-error, .console .row.bad .type { color: #ff9b8f; } }
@media (max-width: 860px) { body.console > main { grid-template-columns: minmax(0, 1fr); padding: 12px; } .console .row .at { width: auto; } .console .row .seq { display: none; } .console .row .type { width: 110px; } }
`;
