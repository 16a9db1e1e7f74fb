/** Style of /status, in addition to the sheets of /docs and /app. */
export const statusCss = `
body.app { --day-good: #a3cfbb; --day-bad: #f3c4bb; --day-pending: #cfdef6; }
@media (prefers-color-scheme: dark) { body.app { --day-good: #1f4d3a; --day-bad: #5e2a21; --day-pending: #23395a; } }
.app .overall { font-size: 17px; font-weight: 600; margin: 0 0 4px; }
.app .day-legend { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.app .day-legend .day { width: 14px; height: 14px; margin-right: 6px; vertical-align: -2px; }
.app .calendar { display: flex; flex-wrap: wrap; gap: 16px 24px; }
.app .calendar table { width: auto; border-collapse: separate; border-spacing: 3px; }
.app .calendar caption { text-align: left; font-size: 13px; font-weight: 600; padding: 0 3px 2px; }
.app .calendar :is(th, td) { position: static; padding: 0; border: 0; background: none; text-align: center; font-size: 11px; }
.app .calendar td { width: 26px; height: 26px; background: none; }
.app .calendar tbody tr:is(:hover, :focus-within) td { background: none; }
.app .day { display: inline-flex; align-items: center; justify-content: center; width: 26px; height: 26px; padding: 0; border: 1px solid var(--line); border-radius: 4px; font-size: 12px; color: var(--muted); background: none; }
.app button.day { cursor: pointer; color: var(--text); }
.app button.day[aria-pressed=true] { outline: 2px solid var(--accent); outline-offset: 1px; color: var(--text); border-color: var(--line); }
.app .day.available { background: var(--day-good); }
.app .day.degraded { background: var(--day-bad); border: 2px dashed var(--bad); }
.app .day.pending { background: var(--day-pending); border-style: dotted; }
.app #day { margin-top: 12px; }
.app #notices ul { margin: 0; padding-left: 20px; font-size: 15px; }
.app #notices li { margin-bottom: 4px; overflow-wrap: anywhere; }
`;
