/** The units of `member`: every unit has one owner, and owners differ by one unit at most. Same answer in every process that sees the same members. */
export function assignTasks(member: string, members: readonly string[], tasks: readonly string[]): readonly string[] {
  const sorted = [...new Set(members)].sort();
  return tasks.filter((_, index) => sorted[index % sorted.length] === member);
}
