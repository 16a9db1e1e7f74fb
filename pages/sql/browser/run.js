// Runs statements by POST /v1/sql.

import { ApiError, currentKey } from '/app/assets/api.js';

/** Response of one statement. Throws ApiError (with `code` for errors of the statement), or AbortError when `signal` aborts. */
async function send(body, signal) {
  let response;
  try {
    response = await fetch('/v1/sql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': currentKey() },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, body: { error: 'The API does not respond.' }, retryAtMs: null, requestId: null });
  }
  if (response.ok) return response;
  const failure = await response.json().catch(() => null);
  const waitS = Number(response.headers.get('retry-after'));
  const error = new ApiError({
    status: response.status,
    body: failure,
    retryAtMs: waitS > 0 ? Date.now() + waitS * 1000 : null,
    requestId: response.headers.get('x-request-id'),
  });
  error.code = typeof failure?.code === 'number' ? failure.code : null;
  throw error;
}

/** Result of a statement: `{ meta, data, rows, statistics }`, at most `maxRows` rows. */
export async function runStatement(sql, maxRows, signal = undefined) {
  return (await send({ sql, max_rows: maxRows }, signal)).json();
}

/** All rows of a statement as a file. `onBytes(total)` is called as it arrives. */
export async function downloadFile(sql, format, signal, onBytes) {
  const response = await send({ sql, format }, signal);
  const chunks = [];
  let bytes = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.length;
    onBytes(bytes);
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(chunks, { type: response.headers.get('content-type') }));
  link.download = `oddstream-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return bytes;
}
