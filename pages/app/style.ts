/** Style of /app, in addition to the sheet of the other pages (colours, fonts, header). */
export const appCss = `
body.app { --accent: #0b5cd5; --good: #176f30; --bad: #b42318; --up: #1f8a5b; --down: #c8452f; --bone: #e4e8ed; --gap: rgba(91, 102, 117, 0.16); display: flex; flex-direction: column; min-height: 100vh; }
@media (prefers-color-scheme: dark) { body.app { --accent: #7db1ff; --good: #5fd38a; --bad: #ff9b8f; --up: #3fb27f; --down: #ef7b66; --bone: #262f3b; --gap: rgba(154, 166, 181, 0.16); } }
body.app > main { width: 100%; flex: 1; padding: 20px 24px 32px; }
.app > footer { border-top: 1px solid var(--line); padding: 12px 24px; color: var(--muted); font-size: 13px; text-align: center; }
.app > footer p { margin: 0; }
.app button.link { padding: 0; border: 0; background: none; color: var(--accent); font-size: inherit; text-decoration: underline; }
.app .code .bar > a { font-size: 14px; }
.app [hidden] { display: none; }
.app .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.app h1 { font-size: 24px; line-height: 1.25; margin: 20px 0 4px; overflow-wrap: anywhere; }
.app h2 { font-size: 16px; margin: 0; }
.app .lead, .app .facts { margin: 0 0 16px; color: var(--muted); font-size: 14px; overflow-wrap: anywhere; }
.app .facts > * { margin-right: 14px; }
.app kbd { font: 12px/1.4 ui-monospace, monospace; padding: 1px 6px; border: 1px solid var(--line); border-radius: 4px; color: var(--muted); }
.app section { margin: 0 0 28px; }
.app .bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 8px; min-height: 34px; }
.app .bar p { margin: 0; }
.app .bar [role=status] { font-size: 13px; color: var(--muted); }
.app :is(input, button, select) { font: inherit; font-size: 15px; color: var(--text); background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 6px 12px; }
.app button { background: var(--panel); cursor: pointer; }
.app button:disabled { cursor: default; color: var(--muted); }
.app button.primary { background: #1558c0; border-color: #1558c0; color: #ffffff; font-weight: 600; }
.app button[aria-pressed=true] { border-color: var(--good); color: var(--good); font-weight: 600; }
.app :is(a, input, button, summary, .scroll):focus-visible, .app .choice input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }
.app .field { position: relative; display: flex; gap: 8px; }
.app .field input { flex: 1; min-width: 0; }
.app #find input { font-size: 16px; padding: 9px 44px 9px 14px; }
.app #find .field > kbd { position: absolute; right: 12px; top: 11px; pointer-events: none; }
.app #find input:focus + kbd { visibility: hidden; }
.app #find-status { margin: 0; font-size: 13px; color: var(--muted); }
.app #find-status:not(:empty) { margin-top: 6px; }
.app #found { position: absolute; z-index: 5; top: calc(100% + 4px); left: 0; right: 0; margin: 0; padding: 4px; list-style: none; background: var(--bg); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 24px rgb(0 0 0 / 18%); max-height: 60vh; overflow-y: auto; }
.app #found li > div { cursor: pointer; display: flex; gap: 4px 12px; justify-content: space-between; padding: 7px 10px; border-radius: 5px; color: var(--text); text-decoration: none; font-size: 15px; }
.app #found li > div > span:first-child { overflow-wrap: anywhere; }
.app #found .note { color: var(--muted); font-size: 13px; white-space: nowrap; }
.app #found [aria-selected=true] > div, .app #found li > div:hover { background: var(--code); box-shadow: inset 3px 0 var(--accent); }
.app .notice { margin: 16px 0; padding: 14px 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); font-size: 15px; }
.app .notice p { margin: 0 0 8px; overflow-wrap: anywhere; }
.app .notice > :last-child { margin-bottom: 0; }
.app .notice.bad { border-left: 4px solid var(--bad); }
.app .notice .field { max-width: 520px; margin: 4px 0 10px; }
.app .notice .hint { color: var(--muted); font-size: 13px; }
.app .notice .status { font-weight: 600; color: var(--bad); margin-right: 8px; }
.app #loading { margin: 16px 0 24px; }
.app #loading progress { width: 100%; height: 8px; border: 0; border-radius: 4px; overflow: hidden; background: var(--bone); accent-color: var(--accent); display: block; }
.app #loading progress::-webkit-progress-bar { background: var(--bone); }
.app #loading progress::-webkit-progress-value { background: var(--accent); }
.app #loading progress::-moz-progress-bar { background: var(--accent); }
.app #loading > p + progress { margin-bottom: 8px; }
.app #loading ul { list-style: none; margin: 10px 0 0; padding: 0; }
.app #loading li { display: grid; grid-template-columns: minmax(130px, 220px) 1fr 64px; gap: 12px; align-items: center; padding: 4px 0; font-size: 14px; }
.app #loading li small { display: block; color: var(--muted); font-size: 12px; }
.app #loading .part { text-align: right; font-variant-numeric: tabular-nums; color: var(--muted); }
.app .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin: 0 0 24px; }
.app .tiles > div { border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; background: var(--panel); min-width: 0; container-type: inline-size; }
.app .tiles dt { color: var(--muted); font-size: 13px; }
.app .tiles dd { margin: 0; font-size: clamp(15px, 11cqi, 22px); font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.app .phone-only { display: none; }
.app td.when { white-space: normal; min-width: 116px; }
.app td small { white-space: normal; min-width: 7em; display: block; color: var(--muted); font-size: 12px; }
.app .book { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 16px; align-items: start; }
.app .book-state { font-size: 13px; color: var(--muted); }
.app .badge { display: inline-block; padding: 0 8px; border: 1px solid currentColor; border-radius: 10px; font-size: 12px; color: var(--muted); }
.app .badge.ok { color: var(--good); }
.app .badge.warn { color: var(--bad); }
.app .depth svg { display: block; width: 100%; height: 440px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
@media (max-width: 720px) { .app .book { grid-template-columns: minmax(0, 1fr); } .app .depth svg { height: 220px; } }
.app .depth .bids { fill: var(--up); fill-opacity: 0.3; stroke: var(--up); vector-effect: non-scaling-stroke; }
.app .depth .asks { fill: var(--down); fill-opacity: 0.3; stroke: var(--down); vector-effect: non-scaling-stroke; }
.app .depth .axis { display: flex; justify-content: space-between; margin: 4px 0 0; font-size: 12px; color: var(--muted); font-variant-numeric: tabular-nums; }
.app .book tr.middle td { text-align: center; color: var(--muted); font-size: 13px; }
.app .tiles .notice { grid-column: 1 / -1; margin: 0; }
.app .tiles small { display: block; font-size: 13px; font-weight: 400; color: var(--muted); }
.app .choice { display: flex; flex-wrap: wrap; border: 0; margin: 0; padding: 0; gap: 4px; min-width: 0; }
.app .choice label { position: relative; cursor: pointer; }
.app .choice input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.app .choice span { display: block; padding: 4px 10px; font-size: 14px; border: 1px solid var(--line); border-radius: 6px; }
.app .choice input:checked + span { background: var(--text); border-color: var(--text); color: var(--bg); }
.app .legend { margin: 0 0 6px; min-height: 21px; font-size: 13px; color: var(--muted); font-variant-numeric: tabular-nums; }
.app .legend b { color: var(--text); font-weight: 600; margin-right: 10px; }
.app .chart { position: relative; height: 360px; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.app .chart .canvas { position: absolute; inset: 0; }
.app .chart > div:last-child { position: absolute; z-index: 4; inset: 0; display: flex; align-items: center; justify-content: center; padding: 16px; pointer-events: none; }
.app .chart > div:last-child > * { pointer-events: auto; }
.app .chart[aria-busy=true] > div:last-child { background: var(--bone); opacity: .6; animation: breathe 1.4s ease-in-out infinite; }
.app details { margin-top: 8px; }
.app summary { cursor: pointer; font-size: 14px; color: var(--accent); }
.app .scroll { overflow: auto; max-height: 70vh; border: 1px solid var(--line); border-radius: 8px; }
.app .rows { margin: 0; font-size: 14px; border: 1px solid var(--line); border-radius: 8px; }
.app .rows > div { display: grid; grid-template-columns: 180px minmax(0, 1fr); gap: 2px 16px; padding: 8px 14px; border-bottom: 1px solid var(--line); }
.app .rows > div:last-child { border-bottom: 0; }
.app .rows dt { color: var(--muted); }
.app .rows dd { margin: 0; overflow-wrap: anywhere; }
.app .rows code { font-size: 13px; }
.app .rows :is(button, button + a) { margin-left: 6px; }
.app button.copy { padding: 0 8px; font-size: 12px; }
.app .rules { white-space: pre-line; font-size: 14px; color: var(--muted); max-width: 80ch; overflow-wrap: anywhere; }
.app .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 0 24px; align-items: start; }
.app .columns > * { min-width: 0; }
.app .columns h2 { margin: 8px 0; }
.app .columns .scroll { max-height: 440px; }
.app .as-code { margin: 0 0 20px; }
.app .code { margin: 0 0 16px; }
.app .code .bar { margin: 0 0 4px; }
.app .code h3 { font-size: 14px; margin: 0; }
.app .code pre { margin: 0; padding: 10px 12px; background: var(--code); border: 1px solid var(--line); border-radius: 6px; font-size: 13px; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }
.app .hint { color: var(--muted); font-size: 13px; margin: 6px 0; overflow-wrap: anywhere; }
.app meter { width: 80px; height: 10px; vertical-align: middle; }
.app table { width: 100%; border-collapse: separate; border-spacing: 0; font-size: 14px; font-variant-numeric: tabular-nums; }
.app th { position: sticky; top: 0; z-index: 2; background: var(--panel); color: var(--muted); font-weight: 600; text-align: left; vertical-align: bottom; white-space: normal; border-bottom: 1px solid var(--line); }
.app :is(th, td) { padding: 7px 12px; }
.app td { white-space: nowrap; border-bottom: 1px solid var(--line); }

.app tbody tr:last-child td { border-bottom: 0; }
.app :is(th, td).num { text-align: right; }
.app :is(th, td).text { white-space: normal; min-width: 160px; overflow-wrap: anywhere; }
.app tbody tr { position: relative; }
.app tbody tr:is(:hover, :focus-within) td { background: var(--panel); }
.app td a { color: var(--text); text-decoration: none; }
.app td a:hover { text-decoration: underline; }
.app td a.row { color: var(--accent); }
.app td a.row::after { content: ''; position: absolute; inset: 0; }
.app td a:not(.row) { position: relative; z-index: 1; }
.app .mono { font-family: ui-monospace, monospace; font-size: 13px; white-space: nowrap; }
.app .sliders { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 12px 24px; margin-bottom: 16px; }
.app .slider { display: grid; grid-template-columns: 1fr auto; gap: 2px 10px; font-size: 14px; }
.app .slider input { grid-column: 1 / -1; width: 100%; padding: 0; accent-color: var(--accent); }
.app .slider output { font-variant-numeric: tabular-nums; font-weight: 600; }
.app th button { font: inherit; font-size: 14px; font-weight: 600; color: var(--muted); background: none; border: 0; padding: 0; text-align: inherit; }
.app th[aria-sort] button { color: var(--text); }
.app th[aria-sort=descending] button::after { content: ' ↓' / ''; }
.app th[aria-sort=ascending] button::after { content: ' ↑' / ''; }
.app .spark { display: block; width: 96px; height: 26px; fill: none; stroke-width: 1.5; }
.app .spark.up { stroke: var(--up); }
.app .spark.down { stroke: var(--down); }
.app .toxic { display: inline-block; padding: 1px 8px; border: 1px solid var(--bad); border-radius: 10px; color: var(--bad); font-size: 12px; font-weight: 600; }
.app tr[aria-selected=true] td { background: var(--code); }
.app ::placeholder { color: var(--muted); opacity: 1; }
.app .good { color: var(--good); }
.app .bad-number { color: var(--bad); }
.app .dim { color: var(--muted); }
.app .fresh td:first-child { box-shadow: inset 3px 0 var(--good); }
.app .foot { display: flex; gap: 12px; align-items: center; margin-top: 10px; font-size: 13px; color: var(--muted); min-height: 34px; }
.app .foot:empty { display: none; }
.app .bone { display: inline-block; width: 9em; max-width: 100%; height: .8em; border-radius: 4px; background: var(--bone); animation: breathe 1.4s ease-in-out infinite; }
.app td .bone { width: 100%; min-width: 3em; }
@keyframes breathe { 50% { opacity: .45; } }
@media (prefers-reduced-motion: reduce) { .app *, .app *::before, .app *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; } }
@media (max-width: 640px) {
  body.app > main { padding: 12px 12px 24px; }
  .app > header > div { padding: 10px 12px; }
  .app h1 { font-size: 20px; margin-top: 14px; }
  .app .chart { height: 280px; }
  .app :is(th, td).wide, .app td .wide { display: none; }
  .app :is(th, td) { padding: 7px 4px; }
  .app table { font-size: 13px; }
  .app :is(th, td).text { min-width: 84px; }
  .app .phone-only { display: block; }
  .app .rows > div { grid-template-columns: minmax(0, 1fr); }
  .app td time { display: inline-block; min-width: 4.6em; white-space: normal; }
  .app #find .field > kbd { display: none; }
  .app .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  .app .tiles dd { font-size: 18px; }
}
`;
