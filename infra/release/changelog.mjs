const UNRELEASED = '## [Unreleased]';
const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * Text of CHANGELOG.md ("Keep a Changelog" form) with everything under "Unreleased" moved under the new version, and an empty "Unreleased" above.
 * Throws when the version is not a semantic version or exists already, or when there is nothing to release.
 */
export function releaseChangelog(text, version, date) {
  if (!VERSION.test(version)) throw new Error(`"${version}" is not a version such as 1.2.3`);
  if (text.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has a section for ${version} already`);
  const start = text.indexOf(UNRELEASED);
  if (start < 0) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  const rest = text.slice(start + UNRELEASED.length);
  const next = rest.search(/^## \[/m);
  const changes = (next < 0 ? rest : rest.slice(0, next)).trim();
  if (!/^- /m.test(changes)) throw new Error('CHANGELOG.md has nothing under "Unreleased"');
  const older = next < 0 ? '' : rest.slice(next);
  return `${text.slice(0, start)}${UNRELEASED}\n\n## [${version}] - ${date}\n\n${changes}\n${older === '' ? '' : `\n${older}`}`;
}

/** package.json or package-lock.json with the new version; the rest of the text stays as it is. */
export function withVersion(text, version, places) {
  let left = places;
  const changed = text.replace(/^(\s*"version": ")[^"]+(",?)$/gm, (line, before, after) =>
    left-- > 0 ? `${before}${version}${after}` : line,
  );
  if (left > 0) throw new Error('no "version" to change');
  return changed;
}
