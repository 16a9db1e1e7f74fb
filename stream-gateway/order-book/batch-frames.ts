import { type DataFrame, dataFrame } from './book-peer.js';

/** Characters of the updates of one frame; more are several frames. */
const MAX_FRAME_CHARACTERS = 512 * 1024;

/** `batch` frames with the updates, in order. `nowMs`: Unix ms. */
export function batchFrames(updates: readonly string[], nowMs: number): readonly DataFrame[] {
  const frames: DataFrame[] = [];
  let part: string[] = [];
  let characters = 0;
  const close = () => {
    if (part.length > 0)
      frames.push(dataFrame(`{"type":"batch","ts":${nowMs},"count":${part.length},"updates":[${part.join(',')}]}`));
    part = [];
    characters = 0;
  };
  for (const update of updates) {
    if (characters + update.length > MAX_FRAME_CHARACTERS) close();
    part.push(update);
    characters += update.length;
  }
  close();
  return frames;
}
