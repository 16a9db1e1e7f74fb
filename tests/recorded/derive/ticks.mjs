// BTC/USD ticks: second, price at full accuracy as mantissa and trailing zeros, two delays.
import path from 'node:path';
import { packColumns } from './pack.mjs';
import { readCsv } from './read.mjs';

export function deriveTicks(source) {
  const rows = readCsv(path.join(source, 'polymarket-data-samples-btc/BTCUSD-prices-2026-07-24.csv.gz'));
  const second = [];
  const zeros = [];
  const mantissa = [];
  const serverDelay = [];
  const receivedDelay = [];
  for (const row of rows) {
    const timestampMs = Number(row.feed_ts_ms);
    if (timestampMs % 1000 !== 0) throw new Error(`tick is not on a whole second: ${timestampMs}`);
    const text = row.full_accuracy_value;
    const stripped = text.replace(/0+$/, '');
    second.push(timestampMs / 1000);
    zeros.push(text.length - stripped.length);
    mantissa.push(BigInt(stripped));
    serverDelay.push(Number(row.server_ts_ms) - timestampMs);
    receivedDelay.push(Number(row.recv_ms) - Number(row.server_ts_ms));
  }
  const bytes = packColumns({
    second: { values: second, delta: true },
    zeros: { values: zeros },
    mantissa: { values: mantissa },
    server_delay_ms: { values: serverDelay },
    received_delay_ms: { values: receivedDelay },
  });
  return { bytes, counts: { ticks: rows.length, first_ms: second[0] * 1000, last_ms: second.at(-1) * 1000 } };
}
