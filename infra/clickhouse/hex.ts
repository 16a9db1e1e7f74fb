/** SQL of hashes and addresses that tables store as bytes (FixedString) and that users read and write as text, `0x` and hexadecimal digits in lower case. */

/** The text of an expression's bytes. */
export const hexText = (bytes: string): string => `concat('0x', lower(hex(${bytes})))`;

/** The bytes of a text, to be compared with a FixedString. Constant when the text is, so that key and indexes apply. */
export const bytesOfHex = (text: string): string => `unhex(substring(${text}, 3))`;
