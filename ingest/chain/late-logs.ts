/** Blocks below the head whose logs a node may not have indexed yet. */
const NEWEST_BLOCKS = 16;
const NEWEST_READS = 3;

/**
 * How often a block is read at most while it is empty though its header admits logs. A header may admit logs that do not exist, so a block that
 * stays empty is taken as it is; below the newest blocks at the first read, so that a wide gap is not delayed.
 */
export const readsOfEmptyBlock = (number: number, head: number): number =>
  head - number <= NEWEST_BLOCKS ? NEWEST_READS : 1;
