/** Consumer groups whose position another module reads. The positions in the log depend on the names, so they must never change. */
export const consumerGroups = {
  /** Ingest; its position in chain.final is the first record with an id that still waits for its lookup in the catalogue. */
  onDemandMarkets: 'ingest-catalog-wanted',
  /** Processor of wallet.activity; reads chain.final. */
  activity: 'activity',
  /** Processor of positions and pnl.events; reads one partition of wallet.activity. */
  positions: (partition: number) => `positions-${partition}`,
  /** Processor of stream.events; reads chain.head and oracle.ticks. */
  stream: 'stream',
  /** Copies resolutions of chain.final to stream.resolutions. */
  streamResolutions: 'stream-resolutions',
} as const;
