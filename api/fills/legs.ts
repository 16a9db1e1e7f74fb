/** The asset id of USDC in a fill's legs. */
const COLLATERAL = '0';

interface SignedOrder {
  /** Side of the signed order. */
  readonly side: 'BUY' | 'SELL';
  readonly token_id: string;
  /** Base units, as text. */
  readonly usdc: string;
  readonly shares: string;
}

/** Assets and amounts in base units that maker and taker gave: the maker of a buy order gives USDC, of a sell order the outcome token. */
export function legsOf(row: SignedOrder) {
  const usdc = BigInt(row.usdc);
  const shares = BigInt(row.shares);
  return row.side === 'BUY'
    ? { makerAssetId: COLLATERAL, takerAssetId: row.token_id, makerAmount: usdc, takerAmount: shares }
    : { makerAssetId: row.token_id, takerAssetId: COLLATERAL, makerAmount: shares, takerAmount: usdc };
}

/** Whether the subject of a row bought or sold outcome tokens: the order's side for its maker, the other for its taker. */
export function directionOf(row: { readonly side: 'BUY' | 'SELL'; readonly role: 'maker' | 'taker' }): 'BUY' | 'SELL' {
  if (row.role === 'maker') return row.side;
  return row.side === 'BUY' ? 'SELL' : 'BUY';
}

/** Role of the wallet that signed an order or fill. */
export const signedRoleOf = (row: { readonly is_taker_order: boolean | number }): 'maker' | 'taker' =>
  Number(row.is_taker_order) === 1 ? 'taker' : 'maker';
