import type { Hex } from './hash.js';
import { positionConditionId } from './ids.js';

/**
 * Ids of the module-based protocol (combos). A position id is, high to low: module (8 bits), base hash (128), arity (16), reserved (64),
 * resolution chain (16), condition index (16), outcome index (8). Its condition id is the position id without the outcome (31 bytes), its event id
 * the condition id without the condition index (29 bytes).
 */
export interface ComboPosition {
  readonly positionId: string;
  readonly moduleId: number;
  readonly conditionId: Hex;
  readonly eventId: Hex;
  readonly arity: number;
  readonly conditionIndex: number;
  /** 0 = YES, 1 = NO. */
  readonly outcomeIndex: number;
}

const MODULES: Readonly<Record<number, string>> = { 1: 'BinaryModule', 2: 'NegRiskModule', 3: 'CombinatorialModule' };
/** The module whose conditions have legs. */
export const COMBINATORIAL_MODULE = 3;
const CONDITION_ID = /^0x[0-9a-f]{62}$/;

const moduleOf = (id: string): number => Number.parseInt(id.slice(2, 4), 16);

/** Name of a module; undefined for an unknown module id. */
export const comboModuleName = (moduleId: number): string | undefined => MODULES[moduleId];

/** Module of a condition or event id. */
export const comboModuleOf = moduleOf;

/** Combo conditions have 31 bytes, others 32. */
const COMBO_CONDITION_LENGTH = 64;
export const isComboCondition = (conditionId: string): boolean => conditionId.length === COMBO_CONDITION_LENGTH;

/** Event id of a condition id. */
const comboEventId = (conditionId: string): Hex => conditionId.slice(0, 60) as Hex;

/** The fields of a position id in decimal text. Throws RangeError when the text is no uint256. */
export function parseComboPosition(positionId: string): ComboPosition {
  const value = BigInt(positionId);
  const conditionId = positionConditionId(value);
  const field = (from: number, to: number) => Number.parseInt(conditionId.slice(2 + from, 2 + to), 16);
  return {
    positionId: value.toString(),
    moduleId: moduleOf(conditionId),
    conditionId,
    eventId: comboEventId(conditionId),
    arity: field(34, 38),
    conditionIndex: field(58, 62),
    outcomeIndex: Number(value & 0xffn),
  };
}

const RESERVED = (1n << 64n) - 1n;

/** Whether a token id is a position of this protocol: it has a known module and zero reserved bits. Other token ids are hashes. */
export function isComboPosition(tokenId: string): boolean {
  const value = BigInt(tokenId);
  return MODULES[Number(value >> 248n)] !== undefined && ((value >> 40n) & RESERVED) === 0n;
}

/** Both position ids of a condition, YES first, as decimal text. Throws a RangeError for what is no condition id of 31 bytes. */
export function comboPositions(conditionId: string): readonly [string, string] {
  if (!CONDITION_ID.test(conditionId)) throw new RangeError(`Not a combo condition id: ${conditionId.slice(0, 80)}`);
  const base = BigInt(conditionId) << 8n;
  return [base.toString(), (base + 1n).toString()];
}
