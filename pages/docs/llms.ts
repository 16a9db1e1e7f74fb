import { guides } from './guides.js';

/** `/llms.txt` (format: llmstxt.org): where assistants find each document as text. `baseUrl`: public address of the API. */
export function llmsText(baseUrl: string): string {
  const group = (name: string) =>
    guides
      .filter((guide) => guide.group === name)
      .map(({ slug, title, summary }) => `- [${title}](${baseUrl}/docs/${slug}.md): ${summary}`)
      .join('\n');
  return `# Oddstream

> Data of prediction markets: every on-chain fill, oracle prices and the venue's catalogue, over REST, WebSocket and SQL (ClickHouse).

## Use

- [REST reference](${baseUrl}/docs/reference.md): every endpoint with its parameters and errors.
- [OpenAPI 3.1](${baseUrl}/openapi.json): schemas and examples of every request and response.
- [AsyncAPI 3](${baseUrl}/asyncapi.json): every frame of the sockets.
${group('Use')}

## Operate

${group('Operate')}

## Optional

${group('Develop')}
`;
}
