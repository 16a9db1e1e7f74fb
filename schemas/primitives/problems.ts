/** Reasons why the accounting of a change is incomplete: values of `problem` in pnl events. */
export const problems = {
  unknownQuestions: 'questions of the market unknown',
  unknownNo: 'NO shares never seen coming',
  /** Booked as if there were no fee. */
  unknownFee: 'fee of the conversion unknown',
  unknownRatio: 'payout ratio unknown',
  /** The payout on chain differs from the payout of the known shares at the resolution. */
  payoutDisagrees: 'payout disagrees with the resolution',
  /** The payout on chain is for shares that the known history does not contain. */
  unknownShares: 'shares never seen coming',
} as const;
