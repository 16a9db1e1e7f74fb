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

/** The pages of a list by its cursors. `path`: whole, or the query alone, as `read` takes it. Throws if the list does not end. */
export async function* pagesOf<Page extends object>(
  read: (path: string) => Promise<Page>,
  path: string,
): AsyncGenerator<Page, void> {
  let next: string | null = '';
  for (let count = 0; next !== null; count++) {
    if (count > MAX_PAGES) throw new Error(`${path} does not end`);
    const page: Page = await read(next === '' ? path : `${path}${/[?=]/.test(path) ? '&' : '?'}${next}`);
    next = nextPageOf(page as Body);
    yield page;
  }
}

/** All pages of a list, as `pagesOf`; `between` runs after each page but the last. */
export async function walkPages<Page extends object>(
  read: (path: string) => Promise<Page>,
  path: string,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of pagesOf(read, path)) {
    pages.push(page);
    if (nextPageOf(page as Body) !== null) await between();
  }
  return pages;
}
