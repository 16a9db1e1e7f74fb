import { coverageSql, fullDateRange } from '../../schemas/coverage/coverage.sql.js';
import { MAX_BLOCK_GAP_S, MAX_TICK_GAP_S } from '../../schemas/coverage/sources.js';
import { column, NULLABLE_TIME, type PublicView } from './spec.js';

const COUNT = 'Nullable(UInt64)';
const time = (ms: string): string => `fromUnixTimestamp64Milli(${ms}, 'UTC')`;

const coverage: PublicView = {
  name: 'coverage',
  summary: 'One row per source and UTC day: whether its data of that day is complete, and the reason if not.',
  key: ['day', 'source'],
  fastBy: [],
  freshness: 'Seconds behind final blocks and ticks. Days from the first one with a record of any source to today.',
  caveat: `Computed from what is in the log. A day is degraded when no block with a log of a watched contract came for over ${MAX_BLOCK_GAP_S} seconds, when a feed had no tick for over ${MAX_TICK_GAP_S} seconds, or when a log was not decoded.`,
  columns: [
    column('day', 'Date', 'c.day', 'UTC day.'),
    column('kind', 'String', 'c.kind', 'blocks, contract (its logs), oracle (a price feed), catalogue or order_book.'),
    column(
      'source',
      'String',
      'c.source',
      'E.g. blocks, contract:exchange_v2, oracle:<source>:BTC/USD, with :twap60 for a mean of 60 seconds.',
    ),
    column('address', 'Nullable(String)', 'c.address', 'Address of a contract; NULL for other sources.'),
    column(
      'exchange_version',
      'Nullable(UInt8)',
      'c.exchange_version',
      '1, 2 or 3 for the contract of an exchange; NULL for other sources.',
    ),
    column(
      'state',
      'String',
      'c.state',
      'available, degraded (partly missing), pending (not over, or not reached yet) or missing.',
    ),
    column('why', 'String', 'c.why', 'The reason for the state, as a sentence.'),
    column(
      'records',
      'UInt64',
      'c.records',
      'Records of the log: blocks, events of a contract, ticks; of the catalogue, markets whose newest version is of that day.',
    ),
    column('logs', COUNT, 'c.logs', 'Logs the node reported of a contract; NULL for other sources.'),
    column(
      'undecoded_logs',
      COUNT,
      'c.undecoded_logs',
      'Of these, logs that could not be decoded; NULL for other sources.',
    ),
    column('first_block', COUNT, 'c.first_block', 'First block with a record; NULL without one and off the chain.'),
    column('last_block', COUNT, 'c.last_block', 'Last block with a record; NULL without one and off the chain.'),
    column('first_at', NULLABLE_TIME, time('c.first_ms'), 'Time of the first record, UTC; NULL without one.'),
    column('last_at', NULLABLE_TIME, time('c.last_ms'), 'Time of the last record, UTC; NULL without one.'),
    column(
      'last_change_at',
      NULLABLE_TIME,
      time('c.change_ms'),
      'Time of the newest record of the day, UTC: receive time for a feed, block time for blocks.',
    ),
    column(
      'gaps',
      COUNT,
      'c.gaps',
      'Gaps over the bound; NULL for sources without that check, and for unfinished days.',
    ),
    column('longest_gap_s', COUNT, 'c.longest_gap_s', 'Longest time without a record, seconds; NULL like gaps.'),
  ],
  from: `(${coverageSql(fullDateRange)}) AS c`,
};

export const coverageViews: readonly PublicView[] = [coverage];
