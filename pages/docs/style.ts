/** Style of the pages, in addition to Swagger UI's sheet. System fonts; follows the browser's colour scheme. */
export const docsCss = `
:root { --bg: #ffffff; --panel: #f6f7f9; --text: #1b2430; --muted: #5b6675; --line: #dde2e8; --accent: #0b5cd5; --code: #eef1f5; --note-text: #6b3d00; --note-bg: #fff3dc; --width: 1128px; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #11151b; --panel: #181e26; --text: #e3e8ef; --muted: #9aa6b5; --line: #2b3441; --accent: #6ea8ff; --code: #0c1015; --note-text: #ffd591; --note-bg: #3a2a10; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', sans-serif; }
header { border-bottom: 1px solid var(--line); background: var(--panel); }
header > div { display: flex; gap: 8px 24px; align-items: baseline; flex-wrap: wrap; max-width: var(--width); margin: 0 auto; padding: 14px 24px; }
header .brand { font-weight: 700; font-size: 18px; color: var(--text); text-decoration: none; }
.recorded { margin: 0; padding: 6px 24px; font-size: 13px; text-align: center; color: var(--note-text); background: var(--note-bg); border-top: 1px solid var(--line); }
.recorded[hidden] { display: none; }
header nav { display: flex; gap: 16px; flex-wrap: wrap; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
body > main { max-width: var(--width); margin: 0 auto; padding: 24px; }
ol { padding-left: 24px; }
body > main.guide { display: grid; grid-template-columns: 220px minmax(0, 1fr); gap: 8px 40px; max-width: 1400px; }
main.guide > * { min-width: 0; }
nav.documents { font-size: 15px; position: sticky; top: 16px; align-self: start; max-height: calc(100vh - 32px); overflow-y: auto; }
nav.documents ul { list-style: none; margin: 4px 0 12px; padding: 0; }
nav.documents li { padding: 3px 0; overflow-wrap: anywhere; }
nav.documents li small { color: var(--muted); }
nav.documents summary { cursor: pointer; font-weight: 600; }
nav.documents [aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
nav.documents label { display: block; color: var(--muted); font-size: 14px; }
nav.documents input { width: 100%; padding: 6px 8px; font: inherit; background: var(--bg); color: var(--text); border: 1px solid var(--line); border-radius: 6px; }
article { line-height: 1.6; }
article h1 { margin-top: 0; }
article h2 { margin-top: 40px; border-bottom: 1px solid var(--line); padding-bottom: 4px; }
article pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 12px; overflow-x: auto; font-size: 14px; line-height: 1.45; }
article code { background: var(--code); border-radius: 4px; padding: 1px 4px; font-size: .9em; overflow-wrap: anywhere; }
article pre code { padding: 0; font-size: inherit; overflow-wrap: normal; }
article .scroll { overflow-x: auto; }
article img { max-width: 100%; height: auto; }
article table { border-collapse: collapse; font-size: 15px; }
article th, article td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); }
.twin { text-align: right; font-size: 14px; margin: 0; }
@media (max-width: 800px) {
  body > main.guide { grid-template-columns: minmax(0, 1fr); }
  nav.documents { position: static; max-height: none; }
}
.samples { margin: 16px 20px; }
.samples .languages { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-bottom: 6px; font-size: 14px; }
.samples button { font: inherit; padding: 3px 10px; color: var(--text); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
.samples button[aria-pressed=true] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.samples button.copy { margin-left: auto; }
.samples pre { margin: 0; padding: 12px; color: var(--text); background: var(--code); border: 1px solid var(--line); border-radius: 6px; font-size: 13px; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.command { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 12px; font-size: 14px; white-space: pre-wrap; overflow-wrap: anywhere; }
#plans .scroll { overflow-x: auto; }
#plans table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
#plans th, #plans td { text-align: right; padding: 8px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
#plans th:first-child, #plans td:first-child { text-align: left; }
#plans th { color: var(--muted); font-weight: 600; }
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .opblock .opblock-summary-description,
.swagger-ui .opblock .opblock-summary-path, .swagger-ui .opblock-description-wrapper p, .swagger-ui .info p, .swagger-ui .info li,
.swagger-ui table thead tr td, .swagger-ui table thead tr th, .swagger-ui .parameter__name, .swagger-ui .parameter__type,
.swagger-ui .response-col_status, .swagger-ui .response-col_links, .swagger-ui .tab li, .swagger-ui label, .swagger-ui .markdown p,
.swagger-ui .opblock .opblock-section-header h4, .swagger-ui .model, .swagger-ui .model-title, .swagger-ui .property,
.swagger-ui .responses-inner h4, .swagger-ui .responses-inner h5, .swagger-ui .dialog-ux .modal-ux-content p,
.swagger-ui .dialog-ux .modal-ux-content h4, .swagger-ui .dialog-ux .modal-ux-header h3, .swagger-ui .json-schema-2020-12__title,
.swagger-ui .json-schema-2020-12-property .json-schema-2020-12__title, .swagger-ui .json-schema-2020-12-keyword__name { color: var(--text); font-family: inherit; }
.swagger-ui .scheme-container, .swagger-ui .opblock .opblock-section-header, .swagger-ui .dialog-ux .modal-ux { background: var(--panel); box-shadow: none; border-color: var(--line); }
.swagger-ui .scheme-container { padding: 16px; margin: 0 0 16px; border: 1px solid var(--line); border-radius: 6px; }
.swagger-ui .info .title small { background: #5b6675; }
.swagger-ui .info .title small.version-stamp { background: #1f6feb; }
html .swagger-ui .info .title small pre { color: #ffffff; font-family: inherit; }
.swagger-ui .response-col_links { display: none; }
html.dark-mode, html.dark-mode body { background: var(--bg); }
html.dark-mode .swagger-ui { background: none; }
html.dark-mode .swagger-ui .scheme-container { background: var(--panel); box-shadow: none; }
html.dark-mode .swagger-ui .info .title small pre, html.dark-mode .swagger-ui .btn.authorize, html.dark-mode .swagger-ui .opblock .btn.execute { color: #ffffff; }
html.dark-mode .swagger-ui .scheme-container .btn.authorize, html.dark-mode .swagger-ui .scheme-container .btn.authorize span { color: #ffffff; }
html.dark-mode .swagger-ui .scheme-container .btn.authorize, html.dark-mode .swagger-ui .opblock .btn.execute { background: #1f6feb; border-color: #1f6feb; }
html.dark-mode .swagger-ui .scheme-container .btn.authorize svg { fill: #ffffff; color: #ffffff; }
.swagger-ui .info a, .swagger-ui .info .url { color: var(--accent); }
.swagger-ui .opblock .opblock-summary-method { color: #ffffff; text-shadow: none; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1558c0; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #176f30; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method, .swagger-ui .opblock.opblock-put .opblock-summary-method { background: #7a4a00; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b42318; }
.swagger-ui table.headers td, .swagger-ui td.header-col, html.dark-mode .swagger-ui td.header-col { color: var(--text); }
.swagger-ui .btn.cancel, html.dark-mode .swagger-ui .btn.cancel { color: var(--text); border-color: var(--muted); }
.swagger-ui .highlight-code, .swagger-ui .highlight-code > pre, .swagger-ui .opblock-body pre.microlight, .swagger-ui .opblock-body pre.example { max-height: none; overflow: visible !important; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--text) !important; background: var(--code) !important; border: 1px solid var(--line); }
.swagger-ui .opblock-body pre.microlight *, .swagger-ui .opblock-body pre.example * { color: inherit !important; }
.swagger-ui .opblock-tag { border-bottom-color: var(--line); }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .wrapper { padding: 0; max-width: none; }
.swagger-ui .opblock-tag { padding-left: 0; }
.swagger-ui .response-control-media-type__accept-message { color: var(--muted); }
.swagger-ui .response-control-media-type--accept-controller select { border-color: var(--line); }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: var(--accent); background: var(--code); }
.swagger-ui input, .swagger-ui input[type=text], .swagger-ui input[type=password], .swagger-ui select, .swagger-ui textarea { background: var(--bg); color: var(--text); border: 1px solid var(--line); }
.swagger-ui .btn { color: var(--text); border-color: var(--line); }
.swagger-ui .btn.authorize, .swagger-ui .btn.execute { color: #ffffff; background: #1f6feb; border-color: #1f6feb; }
.swagger-ui .btn.authorize svg { fill: #ffffff; }
.swagger-ui svg.arrow, .swagger-ui .opblock-tag svg, .swagger-ui .opblock-summary svg, .swagger-ui .opblock-control-arrow svg,
.swagger-ui .authorization__btn svg { fill: var(--muted); color: var(--muted); opacity: 1; }
.swagger-ui .parameter__in, .swagger-ui .prop-format { color: var(--muted); }
.swagger-ui .json-schema-2020-12, .swagger-ui .model-box { background: var(--code); }
`;
