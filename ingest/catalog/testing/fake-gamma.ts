import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeResponse {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/**
 * Fake of the catalog service over HTTP: events by cursor, by slug, by id and by update; markets by condition and token; series and tags by offset. A
 * list holds closed or open rows, honours `end_date_min` and is cut to the page size of the service. Supports fault injection.
 */
export interface FakeGamma {
  readonly url: string;
  /** Every request so far, as `path?query`. */
  readonly requests: string[];
  /** Arrival times of these requests, Unix ms. */
  readonly requestedMs: number[];
  /** Rows of the service; may be changed between requests. */
  events: Record<string, unknown>[];
  series: unknown[];
  tags: unknown[];
  /** Maximum number of rows of a page of /markets, regardless of `limit`. */
  maxMarkets: number;
  /** Maximum number of rows of a page of /series, /tags and /events, regardless of `limit`. */
  maxRows: number;
  /** Responses for the next requests; real responses follow. */
  readonly faults: FakeResponse[];
  /** Requests that contain this text are rejected with 400. */
  rejected: string | null;
  stop(): Promise<void>;
}

export async function startFakeGamma(): Promise<FakeGamma> {
  const requests: string[] = [];
  const requestedMs: number[] = [];
  const faults: FakeResponse[] = [];
  const page = (rows: unknown[], query: URLSearchParams, start: number) =>
    rows.slice(start, start + Math.min(fake.maxRows, Number(query.get('limit'))));

  const respond = (path: string, query: URLSearchParams): unknown => {
    const offset = Number(query.get('offset') ?? 0);
    if (path === '/series') return page(fake.series, query, offset);
    if (path === '/tags') return page(fake.tags, query, offset);
    const closed = query.get('closed');
    const since = query.get('end_date_min');
    const chosen = fake.events.filter(
      (event) =>
        (closed === null || String(event.closed ?? false) === closed) &&
        (since === null || Date.parse(String(event.endDate)) >= Date.parse(since)),
    );
    if (path === '/markets') return page(requestedMarkets(fake.events, query), query, offset).slice(0, fake.maxMarkets);
    if (path === '/events/keyset') {
      const from = Number(query.get('after_cursor') ?? 0);
      const events = page(chosen, query, from);
      const next = from + events.length;
      return { events, ...(next < chosen.length ? { next_cursor: String(next) } : {}) };
    }
    if (path !== '/events') return null;
    const ids = query.getAll('id');
    if (ids.length > 0)
      return page(
        chosen.filter((event) => ids.includes(String(event.id))),
        query,
        offset,
      );
    const slugs = query.getAll('slug');
    if (slugs.length > 0) return chosen.filter((event) => slugs.includes(String(event.slug)));
    const updated = (event: Record<string, unknown>) => String(event.updatedAt ?? '');
    return page(
      chosen.toSorted((a, b) => (updated(a) < updated(b) ? 1 : -1)),
      query,
      offset,
    );
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    requests.push(`${url.pathname}${url.search}`);
    requestedMs.push(Date.now());
    const isRejected = fake.rejected !== null && url.search.includes(fake.rejected);
    const fault = isRejected ? { status: 400, body: '' } : faults.shift();
    const body = fault === undefined ? respond(url.pathname, url.searchParams) : null;
    if (fault !== undefined) response.writeHead(fault.status, fault.headers).end(fault.body);
    else
      response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeGamma = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    requestedMs,
    maxMarkets: 500,
    maxRows: Number.POSITIVE_INFINITY,
    events: [],
    series: [],
    tags: [],
    faults,
    rejected: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

/** Markets of the requested conditions or tokens with the name of their event: open or closed as requested, without restricted ones. */
function requestedMarkets(events: Record<string, unknown>[], query: URLSearchParams): unknown[] {
  const conditions = query.getAll('condition_ids');
  const tokens = query.getAll('clob_token_ids');
  const closed = query.get('closed') ?? 'false';
  return events.flatMap(({ id, slug, title, markets }) =>
    ((markets ?? []) as Record<string, unknown>[])
      .filter((market) => String(market.closed ?? false) === closed && market.restricted !== true)
      .filter(
        (market) =>
          conditions.includes(String(market.conditionId)) ||
          (JSON.parse(String(market.clobTokenIds ?? '[]')) as string[]).some((token) => tokens.includes(token)),
      )
      .map((market) => ({ ...market, events: [{ id, slug, title }] })),
  );
}
