/** The parts of an OpenAPI 3.1 document that are printed. */
export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: BodySchema }>>;
  };
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

interface BodySchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** All endpoints of an OpenAPI document as Markdown, by tag: the text twin of `/docs`. */
export function referenceMarkdown(document: ReferenceDocument): string {
  const byTag = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags?.[0] ?? 'Other';
      const endpoints = byTag.get(tag) ?? [];
      byTag.set(tag, endpoints);
      endpoints.push(endpointMarkdown(`${method.toUpperCase()} ${path}`, operation));
    }
  }
  const groups = [...byTag].map(([tag, endpoints]) => `## ${tag}\n\n${endpoints.join('\n\n')}`);
  const { title, version } = document.info;
  return `# ${title} ${version}\n\nSchemas and examples of every response: \`/openapi.json\`.\n\n${groups.join('\n\n')}\n`;
}

function endpointMarkdown(name: string, operation: Operation): string {
  const { properties = {}, required = [] } = operation.requestBody?.content?.['application/json']?.schema ?? {};
  const fields = Object.entries(properties).map(([field, { description }]) => ({
    ...{ name: field, in: 'body', required: required.includes(field) },
    ...(description === undefined ? {} : { description }),
  }));
  const parameters = [...(operation.parameters ?? []), ...fields].map(
    ({ name: parameter, in: where, required: isRequired, description = '' }) =>
      `- \`${parameter}\` (${where}${isRequired === true ? ', required' : ''})${description === '' ? '' : `: ${oneLine(description)}`}`,
  );
  const statuses = Object.entries(operation.responses ?? {}).map(
    ([status, { description = '' }]) => `${status} ${oneLine(description)}`,
  );
  return [
    `### ${name}`,
    ...[operation.summary, operation.description].flatMap((text) => (text === undefined ? [] : [text])),
    ...(parameters.length === 0 ? [] : [parameters.join('\n')]),
    ...(statuses.length === 0 ? [] : [`Responses: ${statuses.join(' · ')}`]),
  ].join('\n\n');
}
