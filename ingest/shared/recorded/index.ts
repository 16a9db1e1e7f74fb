export { createClock, createSteppingClock, type RecordedClock } from './clock.js';
export { existsAt, gammaEvents, gammaMarket, isClosedAt } from './gamma.js';
export { openRecording } from './recording.js';
export { coinName, seriesSlugOf, tagsOfMarket } from './series.js';
export {
  createLiveMarkets,
  DAY_S,
  type LiveMarkets,
  shiftDaysFor,
  shiftHash,
  shiftMarket,
  windowTitle,
} from './shift.js';
export type * from './types.js';
