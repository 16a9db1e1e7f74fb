import { describe, expect, it } from 'vitest';
import { releaseChangelog, withVersion } from './changelog.mjs';

const changelog = `# Changelog

## [Unreleased]

### Fixed

- Fixed one thing.

## [0.1.0] - 2026-11-01

- First.
`;

describe('releaseChangelog', () => {
  it('moves the unreleased lines under the version and leaves an empty section above', () => {
    expect(releaseChangelog(changelog, '0.2.0', '2026-12-01')).toBe(`# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Fixed

- Fixed one thing.

## [0.1.0] - 2026-11-01

- First.
`);
  });

  it('works for the first release', () => {
    const first = releaseChangelog('# Changelog\n\n## [Unreleased]\n\n- First.\n', '0.1.0', '2026-12-01');
    expect(first).toBe('# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n\n- First.\n');
  });

  it.each([
    ['next', changelog, /not a version/],
    ['0.1.0', changelog, /has a section for 0\.1\.0 already/],
    ['0.3.0', '# Changelog\n', /no section/],
    ['0.3.0', releaseChangelog(changelog, '0.2.0', '2026-12-01'), /nothing under/],
  ])('rejects %s', (version, text, reason) => {
    expect(() => releaseChangelog(text, version, '2026-12-01')).toThrow(reason);
  });
});

describe('withVersion', () => {
  it('changes only the given number of versions', () => {
    const lock =
      '{\n  "version": "0.1.0",\n  "a": {\n    "version": "0.1.0"\n  },\n  "b": {\n    "version": "9.9.9"\n  }\n}';
    expect(withVersion(lock, '0.2.0', 2)).toBe(
      '{\n  "version": "0.2.0",\n  "a": {\n    "version": "0.2.0"\n  },\n  "b": {\n    "version": "9.9.9"\n  }\n}',
    );
    expect(() => withVersion('{}', '0.2.0', 1)).toThrow(/no "version"/);
  });
});
