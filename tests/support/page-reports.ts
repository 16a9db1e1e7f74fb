import type { Browser, Page, Request } from 'playwright-core';

/** What the pages of open browsers show, printed when a test fails. */
export const pageReports = new Set<() => Promise<string>>();

/** Adds the pages of a browser, until it is closed. */
export function reportOnFailure(browser: Browser): void {
  const report = async () => {
    const pages = browser.contexts().flatMap((context) => context.pages());
    return (await Promise.all(pages.map(reportOf))).join('\n');
  };
  pageReports.add(report);
  browser.once('disconnected', () => pageReports.delete(report));
}

const REPORT_WITHIN_MS = 10_000;
const MAX_PRINTED_CHARACTERS = 3_000;

/** Address, failed responses and text of a page. */
async function reportOf(page: Page): Promise<string> {
  const shown = page
    .locator('body')
    .textContent({ timeout: REPORT_WITHIN_MS })
    .catch((error: Error) => error.message);
  const failed = page
    .requests()
    .then((requests) => requests.flatMap((request) => failureOf(request) ?? []))
    .catch((error: Error) => [error.message]);
  return [`--- ${page.url()}:`, ...(await failed), ((await shown) ?? '').slice(0, MAX_PRINTED_CHARACTERS)].join('\n');
}

/** A request that failed, has no response yet or one of an error. */
function failureOf(request: Request): string | null {
  const failure = request.failure()?.errorText;
  const status = request.existingResponse()?.status();
  if (failure === undefined && status !== undefined && status < 400) return null;
  return `${request.method()} ${request.url()}: ${failure ?? status ?? 'no response yet'}`;
}
