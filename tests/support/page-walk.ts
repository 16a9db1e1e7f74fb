type Body = Readonly<Record<string, unknown>>;

/** Text of a cursor with these values. */
export const cursorWith = (endpoint: string, order: string, ...values: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify([endpoint, order, ...values.map(String)])).toString('base64url');

/** Parameter that requests the page after a body; null on the last page. */
function nextPageOf(body: Body): string | null {
  const { cursor, next_cursor, pagination_key } = { ...body, ...(body.pagination as Body | undefined) } as Body;
  const found = Object.entries({ cursor: next_cursor ?? cursor, pagination_key }).find(
    ([, value]) => typeof value === 'string',
  );
  return found === undefined ? null : `${found[0]}=${found[1]}`;
}

const MAX_PAGES = 1_000;

/** All pages of a list by its cursors. `path`: whole, or the query alone, as `read` takes it; `between` runs after each page but the last. Throws if the list does not end. */
export async function walkPages<Page extends object>(
  read: (path: string) => Promise<Page>,
  path: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: Page = await read(next === '' ? path : `${path}${/[?=]/.test(path) ? '&' : '?'}${next}`);
    pages.push(page);
    next = nextPageOf(page as Body);
    if (next !== null) await between();
    if (pages.length > MAX_PAGES) throw new Error(`${path} does not end`);
  }
  return pages;
}
