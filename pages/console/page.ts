import { eventTypeNames, feedNames, presetNames } from '../../schemas/socket/vocabulary.js';

/** Aliases of other presets in the list. */
const ALIASES = new Set<string>(['dome', 'redemption']);

const options = (values: readonly string[], chosen: string): string =>
  values.map((value) => `<option${value === chosen ? ' selected' : ''}>${value}</option>`).join('');
const checkboxes = (name: string, values: readonly string[]): string =>
  values.map((value) => `<label><input type="checkbox" name="${name}" value="${value}">${value}</label>`).join('');
const textarea = (name: string, label: string, hint: string): string =>
  `<label>${label}<textarea name="${name}" rows="1" placeholder="${hint}" spellcheck="false"></textarea></label>`;

const form = `<form id="form" autocomplete="off">
<label>Key<input name="key" type="password" placeholder="odds_live_..." required></label>
<label>Preset<select name="type">${options(
  presetNames.filter((name) => !ALIASES.has(name)),
  'trades',
)}</select></label>
<p id="preset-now" role="status"></p>
<div data-for="chainlink" hidden>
<fieldset><legend>Feeds (none: all)</legend>${checkboxes('feeds', feedNames)}</fieldset>
<label>Price<select name="price"><option value="">default (spot)</option><option value="spot">spot</option><option value="30">30 s TWAP</option><option value="60">60 s TWAP</option><option value="30,60">both TWAPs</option></select></label>
</div>
<div data-for="events">
${textarea('slugs', 'Slugs of markets or events', 'btc-updown-5m-1790000100')}
${textarea('wallets', 'Wallets', '0x...')}
<div class="two">
<label>Side<select name="side"><option value="">any</option><option>BUY</option><option>SELL</option><option>YES</option><option>NO</option></select></label>
<label>At least, USD<input name="min_size" type="number" min="0" step="any"></label>
</div>
<details><summary>More filters</summary>
${textarea('tokens', 'Tokens', 'decimal ids')}
${textarea('condition_ids', 'Condition ids', '0x...')}
<label>Snapshot<input name="snapshot_count" type="number" min="0" step="1" placeholder="20"></label>
<fieldset><legend>Event types (none: those of the preset)</legend>${checkboxes('event_types', eventTypeNames)}</fieldset>
</details>
</div>
${textarea('more', 'More filters as JSON', '{&quot;max_size&quot;: 100}')}
<label><input type="checkbox" name="compress"> Compressed</label>
<div id="form-error" role="alert"></div>
<button id="connect" class="primary" type="submit">Connect</button>
</form>`;

const streamPanel = `<div class="right">
<div class="bar"><span id="status" role="status">Not connected.</span></div>
<dl>
<div><dt>Frames/s</dt><dd id="rate">0</dd></div>
<div><dt>Bytes/s</dt><dd id="bytes">0 B</dd></div>
<div><dt title="From the event to this page, by this machine's clock">Delay, median</dt><dd id="delay">–</dd></div>
<div><dt>Frames</dt><dd id="total">0</dd></div>
<div><dt>List</dt><dd id="shown">0 shown</dd></div>
</dl>
<section id="chart-panel" hidden><div class="bar"><h2>Price</h2><select id="chart-feed" aria-label="Feed of the chart"></select></div><div id="chart"></div></section>
<section aria-label="Frames">
<div class="bar"><input id="search" type="search" placeholder="Show only frames with this text" aria-label="Show only frames with this text"><button id="pause" type="button" aria-pressed="false">Pause</button><button id="clear" type="button">Clear</button></div>
<p id="position"></p>
<p id="silence" role="status"></p>
<div id="frames" role="listbox" tabindex="0" aria-label="Frames, newest last"></div>
</section>
<section id="detail-panel" hidden><div class="bar"><h2>Frame</h2><button id="copy-frame" type="button">Copy</button></div><pre id="detail" tabindex="0"></pre></section>
<section><div class="bar"><h2>As code</h2>
<label><input type="radio" name="language" value="javascript" checked> JavaScript</label>
<label><input type="radio" name="language" value="python"> Python</label>
<label><input type="radio" name="language" value="curl"> curl (REST)</label>
<button id="copy-code" type="button">Copy</button></div><pre id="code" tabindex="0"></pre></section>
</div>`;

/** Body of the console page. */
export const consoleBody = `<main><h1>Stream console</h1>${form}${streamPanel}</main>`;
