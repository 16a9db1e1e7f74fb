export function releaseChangelog(text: string, version: string, date: string): string;
export function withVersion(text: string, version: string, places: number): string;
