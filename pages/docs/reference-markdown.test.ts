import { expect, it } from 'vitest';
import { referenceMarkdown } from './reference-markdown.js';

it('prints endpoints by tag with parameters and responses', () => {
  const text = referenceMarkdown({
    info: { title: 'T', version: '2' },
    paths: {
      '/a': {
        get: {
          tags: ['One'],
          summary: 'Reads a.',
          parameters: [{ name: 'limit', in: 'query', required: true, description: 'At\nmost 5.' }],
          responses: { 200: { description: 'The rows.' }, 400: { description: 'Malformed.' } },
        },
      },
      '/b': {
        post: {
          tags: ['Two'],
          requestBody: {
            content: {
              'application/json': {
                schema: { properties: { sql: { description: 'Text.' }, n: {} }, required: ['sql'] },
              },
            },
          },
        },
      },
    },
  });
  expect(text).toBe(
    '# T 2\n\nSchemas and examples of every response: `/openapi.json`.\n\n## One\n\n### GET /a\n\nReads a.\n\n- `limit` (query, required): At most 5.\n\nResponses: 200 The rows. · 400 Malformed.\n\n## Two\n\n### POST /b\n\n- `sql` (body, required): Text.\n- `n` (body)\n',
  );
});
