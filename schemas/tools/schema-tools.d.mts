export interface RegistryEntry {
  readonly id: number;
  readonly kind: string;
  readonly version: number;
  readonly schema: object;
}

export interface SchemaSource {
  readonly kind: string;
  readonly schema: object;
}

export function planRegistry(
  entries: readonly RegistryEntry[],
  sources: readonly SchemaSource[],
): { readonly entries: readonly RegistryEntry[]; readonly breaking: readonly string[] };

export function renderTypes(sources: readonly SchemaSource[]): string;
