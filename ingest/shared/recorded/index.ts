export { createSteppingClock } from './clock.js';
export { existsAt, gammaEvents } from './gamma.js';
export { openRecording } from './recording.js';

export {
  createLiveMarkets,
  type LiveMarkets,
  shiftDaysFor,
} from './shift.js';
export type * from './types.js';
