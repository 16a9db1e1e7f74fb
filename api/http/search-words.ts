/** Limit of the words of a search. */
export const MAX_WORDS = 60;

/** The words of a search text; each must occur in what is found. */
export const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
