/** Edit distance: insertions, deletions, substitutions and swaps of adjacent characters. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const different = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          (above[j] as number) + 1,
          (row[j - 1] as number) + 1,
          (above[j - 1] as number) + different,
          swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = above;
    above = row;
  }
  return above[b.length] as number;
}

const MAX_NAME_LENGTH = 64;
/** Removes case and separators: `tokenId`, `token-id` and `token_id` are one name. */
const normalizedName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The known name with the smallest edit distance; null if none is close enough. Of equally close names the first. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  const target = normalizedName(name);
  const [best] = known
    .map((candidate) => ({ candidate, steps: editDistance(target, normalizedName(candidate)) }))
    .filter(({ candidate, steps }) => steps <= Math.max(1, Math.floor(candidate.length / 3)))
    // A candidate must share at least one character with the name.
    .filter(({ candidate, steps }) => steps < Math.max(candidate.length, target.length))
    .sort((one, other) => one.steps - other.steps);
  return best?.candidate ?? null;
}
