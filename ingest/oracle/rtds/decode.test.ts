import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame } from './decode.js';

const now = 1786179815000;
const twap = (payload: Record<string, unknown>) =>
  JSON.stringify({ connection_id: 'x', topic: 'crypto_prices_twap_sixty', type: 'update', timestamp: now, payload });
const spot = (payload: string) =>
  `{"connection_id":"x","topic":"crypto_prices_chainlink","type":"update","timestamp":${now},"payload":${payload}}`;

describe('decodeFrame', () => {
  it('decodes a TWAP update of the service', () => {
    const frame = decodeFrame(
      twap({
        symbol: 'btc/usd',
        timestamp: 1786179814000,
        value: 64997.81,
        full_accuracy_value: '64997810000000000000000',
        window_s: 60,
      }),
      now,
    );
    expect(frame.errors).toEqual([]);
    expect(frame.prices).toEqual([
      {
        subscription: 'crypto_prices_twap_sixty btc/usd',
        price: {
          feed: 'BTC/USD',
          isTwap: true,
          windowS: 60,
          timestampMs: 1786179814000,
          priceE18: 64997810000000000000000n,
          bidE18: null,
          askE18: null,
          receivedMs: now,
          source: 'rtds',
        },
      },
    ]);
  });

  it('keeps every digit of a value beyond double precision', () => {
    const frame = decodeFrame(
      spot('{"symbol":"btc/usd","timestamp":1786179814000,"value":65048.078902260626123}'),
      now,
    );
    expect(frame.prices[0]?.price.priceE18).toBe(65048078902260626123000n);
  });

  it('takes a decimal full_accuracy_value for the price', () => {
    const payload = { symbol: 'btc/usd', timestamp: 1786179814000, value: 64997.81 };
    const frame = decodeFrame(twap({ ...payload, full_accuracy_value: '64997.810000000000000001' }), now);
    expect(frame.errors).toEqual([]);
    expect(frame.prices[0]?.price.priceE18).toBe(64997810000000000000001n);
    const other = decodeFrame(twap({ ...payload, full_accuracy_value: '65997.81' }), now);
    expect(other.errors).toEqual(['value and full_accuracy_value disagree']);
  });

  it('decodes a dump row by row and keeps the valid ones', () => {
    const frame = decodeFrame(
      JSON.stringify({
        topic: 'crypto_prices_chainlink',
        type: 'subscribe',
        payload: {
          symbol: 'eth/usd',
          data: [
            { timestamp: 1786179812000, value: 3000.5 },
            { timestamp: 'soon', value: 3000.5 },
            { timestamp: 1786179813000, value: null },
            null,
            { timestamp: 1786179814000, value: 3001 },
          ],
        },
      }),
      now,
    );
    expect(frame.kind).toBe('dump');
    expect(frame.prices.map(({ price }) => [price.feed, price.timestampMs, price.priceE18])).toEqual([
      ['ETH/USD', 1786179812000, 3000500000000000000000n],
      ['ETH/USD', 1786179814000, 3001000000000000000000n],
    ]);
    expect(frame.errors).toHaveLength(3);
  });

  it.each(['', 'PONG', 'pong', 'PING', '\n'])('ignores the keep-alive %j', (text) => {
    expect(decodeFrame(text, now)).toEqual({ kind: 'ignored', prices: [], errors: [] });
  });

  it('ignores topics and symbols without a subscription', () => {
    expect(decodeFrame('{"topic":"comments","type":"x","payload":{}}', now).kind).toBe('ignored');
    expect(decodeFrame(spot('{"symbol":"ada/usd","timestamp":1786179814000,"value":1}'), now).kind).toBe('ignored');
  });

  it.each([
    ['not json', '{"topic":'],
    ['an array', '[]'],
    ['a rejection', '{"statusCode":400,"body":{"message":"bad filter"}}'],
    ['no payload', '{"topic":"crypto_prices_chainlink","type":"update"}'],
    ['no symbol', spot('{"timestamp":1786179814000,"value":1}')],
    ['seconds for milliseconds', spot('{"symbol":"btc/usd","timestamp":1786179814,"value":1}')],
    ['a time in the future', spot('{"symbol":"btc/usd","timestamp":1886179814000,"value":1}')],
    ['a fraction of a millisecond', spot('{"symbol":"btc/usd","timestamp":1786179814000.5,"value":1}')],
    ['price zero', spot('{"symbol":"btc/usd","timestamp":1786179814000,"value":0}')],
    ['a negative price', spot('{"symbol":"btc/usd","timestamp":1786179814000,"value":-1}')],
    ['no price', spot('{"symbol":"btc/usd","timestamp":1786179814000}')],
    ['a monstrous price', spot('{"symbol":"btc/usd","timestamp":1786179814000,"value":1e300}')],
    [
      'scales that disagree',
      twap({ symbol: 'btc/usd', timestamp: 1786179814000, value: 64997.81, full_accuracy_value: '64997810000' }),
    ],
    ['a window of another topic', twap({ symbol: 'btc/usd', timestamp: 1786179814000, value: 64997.81, window_s: 30 })],
  ])('gives a reason for %s', (_name, text) => {
    const frame = decodeFrame(text, now);
    expect(frame.kind).toBe('bad');
    expect(frame.prices).toEqual([]);
    expect(frame.errors[0]).toBeTruthy();
  });

  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const withoutText = '{"toString":1,"valueOf":1}';
  const withWindow = (window: string) =>
    twap({ symbol: 'btc/usd', timestamp: 1786179814000, value: 1, window_s: '?' }).replace('"?"', window);
  it.each([
    ['a rejection nested too deeply', `{"statusCode":400,"body":${nested}}`],
    ['a status nested too deeply', `{"statusCode":${nested}}`],
    ['a status that has no text', `{"statusCode":${withoutText}}`],
    ['a window nested too deeply', withWindow(nested)],
    ['a window that has no text', withWindow(withoutText)],
    ['a payload of null', '{"topic":"crypto_prices_chainlink","type":"update","payload":null}'],
  ])('gives a short reason for %s', (_name, text) => {
    const { kind, prices, errors } = decodeFrame(text, now);
    expect({ kind, prices: prices.length, errors: errors.length }).toEqual({ kind: 'bad', prices: 0, errors: 1 });
    expect(errors[0]?.length).toBeLessThan(100);
  });

  it('names the status and the message of a rejection', () => {
    const frame = decodeFrame('{"statusCode":400,"body":{"message":"bad filter"}}', now);
    expect(frame.errors).toEqual(['No topic: 400 bad filter']);
    expect(decodeFrame(`{"message":"${'x'.repeat(500_000)}"}`, now).errors[0]?.length).toBeLessThan(300);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((v) => twap(v as never)),
        ),
        (text) => {
          decodeFrame(text, now);
        },
      ),
    );
  });
});
