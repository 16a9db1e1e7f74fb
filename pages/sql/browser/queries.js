// Queries that this browser remembers, and links with a query.

const SAVED = 'oddstream-sql-saved';
const DRAFT = 'oddstream-sql-draft';
const MAX_SAVED = 100;
const PARAMETER = 'sql';

/** Saved queries, newest first: `{ name, sql }`. */
export function savedQueries() {
  try {
    const list = JSON.parse(localStorage.getItem(SAVED) ?? '[]');
    return Array.isArray(list)
      ? list.filter((one) => typeof one?.name === 'string' && typeof one.sql === 'string')
      : [];
  } catch {
    return [];
  }
}

const store = (list) => localStorage.setItem(SAVED, JSON.stringify(list.slice(0, MAX_SAVED)));

/** A query of the same name is replaced. */
export function saveQuery(name, sql) {
  store([{ name, sql }, ...savedQueries().filter((one) => one.name !== name)]);
}

export function removeQuery(name) {
  store(savedQueries().filter((one) => one.name !== name));
}

/** Text of the editor in this tab. */
export const draft = () => sessionStorage.getItem(DRAFT);
export const keepDraft = (sql) => sessionStorage.setItem(DRAFT, sql);

/** Address of this page with the query in the fragment, which browsers do not send to servers. */
export const linkOf = (sql) => `${location.origin}${location.pathname}#${new URLSearchParams({ [PARAMETER]: sql })}`;

/** Query of the address; null without one. */
export const linkedQuery = () => new URLSearchParams(location.hash.slice(1)).get(PARAMETER);
