const WORD = /([#$@]?)([\p{L}\p{M}\p{N}_]+)/gu;

/** A word of a text, in lower case without its sign. */
export interface Word {
  /** The sign directly before the word: hashtag, cashtag or mention. */
  readonly sign: '' | '#' | '$' | '@';
  readonly word: string;
}

/** Splits a text into words: runs of letters, marks, digits and underscores, in lower case and Unicode form NFKC. */
export function wordsOf(text: string): readonly Word[] {
  return [...text.normalize('NFKC').toLowerCase().matchAll(WORD)].map(([, sign, word]) => ({
    sign: sign as Word['sign'],
    word: word as string,
  }));
}
