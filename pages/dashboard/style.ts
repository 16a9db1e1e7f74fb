/** Style of /dashboard, in addition to the sheet of /app. */
export const dashboardCss = `
.dash h3 { font-size: 15px; margin: 0 0 8px; }
.dash .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 16px; align-items: start; }
.dash .cards > .notice, .dash .notice.narrow { margin: 0; }
.dash .notice.narrow { max-width: 440px; }
.dash .notice h2, .dash .notice h3 { margin: 0 0 12px; }
.dash .notice p + h3 { margin-top: 20px; }
.dash .entry { display: grid; gap: 4px; margin: 0 0 12px; max-width: 440px; }
.dash .entry label, .dash .inline > label { font-size: 14px; font-weight: 600; }
.dash .entry small { color: var(--muted); font-size: 13px; }
.dash .entry input, .dash .entry select { width: 100%; font-size: 16px; }
.dash .inline { display: grid; gap: 4px; margin-top: 12px; max-width: 520px; }
.dash button.link { background: none; border: 0; padding: 2px 0; color: var(--accent); text-decoration: underline; font-size: inherit; text-align: left; }
.dash a.button { display: inline-block; padding: 7px 14px; border-radius: 6px; background: #1558c0; color: #ffffff; font-weight: 600; text-decoration: none; }
.dash .danger { color: var(--bad); border-color: var(--bad); }
.dash .actions { display: flex; flex-wrap: wrap; gap: 8px; }
.dash td .actions { flex-wrap: nowrap; }
.dash td .actions button { font-size: 14px; padding: 3px 10px; }
.dash td.name { white-space: normal; min-width: 8em; overflow-wrap: anywhere; }
.dash .secret { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.dash .secret code { padding: 6px 10px; border-radius: 6px; background: var(--code); font-size: 14px; overflow-wrap: anywhere; min-width: 0; }
.dash .meters { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 12px; }
.dash .meter { border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; background: var(--panel); font-size: 14px; min-width: 0; }
.dash .meter h3 { margin: 0 0 2px; }
.dash .meter p { margin: 0 0 8px; font-variant-numeric: tabular-nums; }
.dash .meter progress { width: 100%; height: 8px; display: block; margin: 0 0 8px; border: 0; border-radius: 4px; overflow: hidden; background: var(--bone); accent-color: var(--accent); }
.dash .meter progress::-webkit-progress-bar { background: var(--bone); }
.dash .meter progress::-webkit-progress-value { background: var(--accent); }
.dash .meter progress::-moz-progress-bar { background: var(--accent); }
.dash .meter.over progress::-webkit-progress-value { background: var(--bad); }
.dash .meter.over progress::-moz-progress-bar { background: var(--bad); }
.dash .meter dl { display: grid; grid-template-columns: 1fr auto; gap: 2px 12px; margin: 0; }
.dash .meter dt { color: var(--muted); }
.dash .meter dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.dash #buy-form output { margin-left: 8px; font-weight: 600; }
.dash #receipts-title { margin-top: 16px; }
.dash dialog { width: min(480px, calc(100vw - 24px)); border: 1px solid var(--line); border-radius: 10px; padding: 20px; background: var(--bg); color: var(--text); }
.dash dialog::backdrop { background: rgb(0 0 0 / 45%); }
.dash dialog h2 { margin: 0 0 10px; font-size: 18px; }
.dash dialog p { margin: 0 0 12px; }
.dash dialog .actions { justify-content: flex-end; margin: 4px 0 0; }
.dash [hidden] { display: none; }
.dash .bar .dim { font-size: 13px; }
@media (max-width: 640px) {
  .dash .list table, .dash .list tbody, .dash .list tr, .dash .list td { display: block; }
  .dash .list thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .dash .list td { display: flex; justify-content: space-between; gap: 12px; white-space: normal; border: 0; padding: 3px 12px; text-align: right; overflow-wrap: anywhere; }
  .dash .list td::before { content: attr(data-name) / ''; color: var(--muted); text-align: left; }
  .dash .list tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  .dash .list tr:last-child { border-bottom: 0; }
  .dash .list td .actions { flex-wrap: wrap; justify-content: flex-end; }
}
`;
