export const filesWithImageTags: readonly string[];
export function imageTags(text: string): readonly string[];
export function withImageTag(text: string, version: string): string;
