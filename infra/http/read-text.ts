/** Body as text. Throws when it is longer than `maxBytes`; at most that many bytes are buffered. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    // Leaving the loop cancels the body, which closes the connection.
    if (bytes > maxBytes) throw new Error(`The response is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
