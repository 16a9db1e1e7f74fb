/** What makes the accounting of a change incomplete: values of `problem` in pnl events. */
export const problems = {
  unknownQuestions: 'questions of the market unknown',
  unknownNo: 'NO shares never seen coming',
  unknownRatio: 'payout ratio unknown',
  /** The chain paid another amount than the known shares pay by the resolution. */
  payoutDisagrees: 'payout disagrees with the resolution',
  /** The chain paid for shares that the known history does not have. */
  unknownShares: 'shares never seen coming',
} as const;
