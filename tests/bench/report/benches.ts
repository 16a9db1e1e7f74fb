/** Every benchmark, in the order of the report, with what it measures. */
export const benches: Readonly<Record<string, string>> = {
  decoder: 'Logs of the chain to events.',
  log: 'Appends to the log, atomic steps, reading back, and the delay to a reader in another process.',
  clickhouse: 'Inserts and small queries of the embedded engine.',
  pipeline: 'Fills from the decoder through the log to the rows of `fills` and its derived tables.',
  accounting: 'Fills to effects on wallets, positions and profit.',
  gateway: 'Fan-out of events to subscribers of the event socket.',
  'order-book': 'Fan-out of order-book changes to subscribers.',
  latency:
    'Time from the source to the frame at a subscriber and to the row in `fills`, through all processes on LMDB.',
  'latency-kafka': 'The same on Kafka: the broker shares the two cores.',
  'scaling-tables': '1, 2 and 4 processors of tables on Kafka: rates, and recovery after SIGKILL.',
  'scaling-stream': '1, 2 and 4 stream processors and gateways on Kafka: rates, and recovery after SIGKILL.',
  reads: 'Response times of the REST API on a large synthetic venue.',
  accounts: 'Account commands, and what a key costs a request.',
  analysts: 'REST response times while analysts use their whole limits.',
  fairness: 'Pings of one client while others send thousands of subscriptions.',
  'copy-pnl': 'Scores of a pool of wallets.',
  overlap: 'Wallets that traded several tags.',
  startup: 'A start without data: time to the first frame and to the whole history, memory.',
  idle: 'The product without clients: processor time and memory.',
};
