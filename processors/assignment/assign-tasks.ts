/** The tasks of `member`: every task has one owner, and owners differ by at most one task. Deterministic in the set of members. */
export function assignTasks(member: string, members: readonly string[], tasks: readonly string[]): readonly string[] {
  const sorted = [...new Set(members)].sort();
  return tasks.filter((_, index) => sorted[index % sorted.length] === member);
}
