// Re-encodes the source data as the recorded input of this project. Usage: node tests/recorded/derive.mjs <source folder>
// The output does not depend on when or where this runs: a second run writes the same bytes.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deriveCatalog } from './derive/catalog.mjs';
import { deriveChain, SOURCES } from './derive/chain.mjs';
import { writePart } from './derive/pack.mjs';
import { deriveTicks } from './derive/ticks.mjs';

// The densest 24 hours of the six wallets, without a gap above 136 s; and the time at which the history with real timestamps ends for them.
const TAIL_FROM_S = Date.UTC(2026, 2, 22, 17) / 1000;
const HISTORY_UNTIL_S = Date.UTC(2026, 2, 23, 5) / 1000;

const source = process.argv[2];
if (source === undefined) {
  console.error('usage: node tests/recorded/derive.mjs <source folder>');
  process.exit(2);
}
const out = path.join(path.dirname(fileURLToPath(import.meta.url)), 'set');
mkdirSync(out, { recursive: true });
// Posts are derived by derive/social.mjs.
for (const file of readdirSync(out)) if (file !== 'social') rmSync(path.join(out, file));

const ticks = deriveTicks(source);
const catalog = deriveCatalog(source);
const chain = deriveChain(source, catalog);

const catalogJson = {
  day_constants: catalog.dayConstants,
  markets: catalog.markets,
  gamma_events: catalog.gammaEvents,
  wallets: chain.wallets,
};
const manifest = {
  format: 1,
  sources: SOURCES,
  tail: { from_s: TAIL_FROM_S, history_until_s: HISTORY_UNTIL_S },
  day: { from_ms: ticks.counts.first_ms, markets: catalog.dayCount },
  counts: { ...ticks.counts, markets: catalog.markets.length, wallets: chain.wallets.length, ...chain.counts },
  parts: {
    ticks: writePart(out, 'ticks', ticks.bytes),
    catalog: writePart(out, 'catalog', Buffer.from(JSON.stringify(catalogJson))),
    chain: writePart(out, 'chain', chain.columns),
    hashes: writePart(out, 'hashes', chain.hashes, { raw: true }),
  },
};
const oneLineLists = (json) => json.replace(/\[\s+("[^[\]{}]*")\s+\]/g, (_, list) => `[${list.replace(/\s+/g, ' ')}]`);
writeFileSync(path.join(out, 'manifest.json'), `${oneLineLists(JSON.stringify(manifest, null, 2))}\n`);
console.log(JSON.stringify(manifest.counts, null, 2));
