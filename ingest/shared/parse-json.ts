/** JSON.parse whose error names a web page, and says nothing of the text otherwise. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(isWebPage(text) ? 'a web page instead of JSON' : 'the response is not JSON');
  }
}

/** Beginning of an error response, for a message; of a web page only that it is one. */
export function excerptOf(text: string): string {
  return isWebPage(text) ? 'a web page' : text.slice(0, 200);
}

const isWebPage = (text: string): boolean => /^\s*<[!?a-z]/i.test(text);
