// Code of a request of the reference, in each language.

/** Value of a parameter or field in the samples: its example, its default, or what its schema allows. */
function sampleValue({ example, schema = {} }) {
  const known = example ?? schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  if (known !== undefined) return known;
  return schema.type === 'integer' ? (schema.minimum ?? 1) : null;
}

/** Operations that need one of several optional parameters: the one in the samples. */
const NEEDED = { '/v2/onchain/candles': 'token_id' };

/** Whether the operation is for a key, for nobody in particular, or for a signed-in browser only. */
function callerOf({ security = [] }) {
  const names = security.flatMap((one) => Object.keys(one));
  if (names.includes('header')) return 'key';
  return names.length === 0 ? 'anyone' : 'browser';
}

/** Request of an operation of the OpenAPI document with its required inputs: `{ method, path, body, withKey, isText }`; null for those of a signed-in browser. */
export function sampleRequest(method, path, operation) {
  const caller = callerOf(operation);
  if (caller === 'browser') return null;
  const required = (operation.parameters ?? []).filter(
    (one) => (one.required === true || one.name === NEEDED[path]) && one.in !== 'header',
  );
  const filled = required
    .filter((one) => one.in === 'path')
    .reduce((text, one) => text.replace(`{${one.name}}`, encodeURIComponent(sampleValue(one) ?? one.name)), path);
  const query = new URLSearchParams(
    required.filter((one) => one.in === 'query').map((one) => [one.name, String(sampleValue(one) ?? one.name)]),
  ).toString();
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  const fields = Object.entries(schema?.properties ?? {}).filter(([name]) => schema.required?.includes(name));
  const body = fields.map(([name, field]) => [name, sampleValue({ schema: field }) ?? name]);
  return {
    method: method.toUpperCase(),
    path: query === '' ? filled : `${filled}?${query}`,
    body: schema === undefined ? null : Object.fromEntries(body),
    withKey: caller === 'key',
    isText: operation.responses?.['200']?.content?.['application/json'] === undefined,
  };
}

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** A text as literal of JavaScript and Python. */
const literal = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function curl({ method, path, body, withKey }, { origin, key }) {
  const parts = [
    `curl -s ${method === 'GET' || (method === 'POST' && body) ? '' : `-X ${method} `}${shell(origin + path)}`,
  ];
  if (withKey) parts.push(`-H ${shell(`x-api-key: ${key}`)}`);
  if (body !== null) parts.push("-H 'content-type: application/json'", `-d ${shell(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

function headersOf({ body, withKey }, key) {
  const headers = withKey ? [`'x-api-key': ${literal(key)}`] : [];
  if (body !== null) headers.push("'content-type': 'application/json'");
  return headers.join(', ');
}

function javascript(request, { origin, key }) {
  const { method, path, body } = request;
  const headers = headersOf(request, key);
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers === '' ? [] : [`  headers: { ${headers} },`]),
    ...(body === null ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ];
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${literal(origin + path)}${given});
if (!response.ok) throw new Error(await response.text());
console.log(await response.${request.isText ? 'text' : 'json'}());`;
}

function python(request, { origin, key }) {
  const { method, path, body } = request;
  const headers = headersOf(request, key);
  const options = [
    literal(origin + path),
    ...(method === 'GET' ? [] : [`method='${method}'`]),
    ...(headers === '' ? [] : [`headers={${headers}}`]),
    ...(body === null ? [] : [`data=json.dumps(json.loads(${literal(JSON.stringify(body))})).encode()`]),
  ];
  return `import json
import urllib.request

request = urllib.request.Request(
    ${options.join(',\n    ')},
)
with urllib.request.urlopen(request) as response:
    print(${request.isText ? 'response.read().decode()' : 'json.load(response)'})`;
}

/** Languages with their samples: `(request, { origin, key }) => code`. */
export const languages = { curl, JavaScript: javascript, Python: python };
