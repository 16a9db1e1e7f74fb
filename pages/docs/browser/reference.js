// The REST reference: Swagger UI, with the code of each request in several languages.

import { readKey } from '/console/key.js';
import { languages, sampleRequest } from './samples.js';

const LANGUAGE = 'oddstream-docs-language';
const key = readKey();
const code = { origin: location.origin, key: key === '' ? 'YOUR_KEY' : key };

/** Samples of an operation by language: REST, and a statement on the public views with the same data. */
function samplesOf(method, path, operation) {
  const request = sampleRequest(method, path, operation);
  const samples = request === null ? [] : Object.entries(languages).map(([name, of]) => [name, of(request, code)]);
  const sql = operation['x-sql'];
  return sql === undefined ? samples : [...samples, ['SQL', sql]];
}

/** Adds the samples above the parameters of each operation. */
const samplesPlugin = () => ({
  wrapComponents: {
    parameters: (Original, { React, specSelectors }) => {
      const { createElement: element, useState } = React;
      function Samples({ path, method }) {
        const [chosen, choose] = useState(localStorage.getItem(LANGUAGE) ?? 'curl');
        const operation = specSelectors.specJson().getIn(['paths', path, method])?.toJS() ?? {};
        const samples = samplesOf(method, path, operation);
        if (samples.length === 0) return null;
        const [shown, text] = samples.find(([name]) => name === chosen) ?? samples[0];
        const tab = ([name]) =>
          element(
            'button',
            {
              key: name,
              type: 'button',
              'aria-pressed': String(name === shown),
              onClick: () => {
                localStorage.setItem(LANGUAGE, name);
                choose(name);
              },
            },
            name,
          );
        const copy = ({ currentTarget }) =>
          navigator.clipboard.writeText(text).then(
            () => currentTarget.replaceChildren('Copied'),
            () => currentTarget.replaceChildren('Copying is blocked'),
          );
        const copyButton = element(
          'button',
          { key: `copy ${shown}`, type: 'button', className: 'copy', onClick: copy },
          'Copy',
        );
        const openSql =
          shown === 'SQL'
            ? element('a', { key: 'sql', href: `/sql#${new URLSearchParams({ sql: text })}` }, 'Open in the SQL page')
            : null;
        return element(
          'div',
          { className: 'samples' },
          element(
            'div',
            { className: 'languages', role: 'group', 'aria-label': 'Language' },
            ...samples.map(tab),
            copyButton,
            openSql,
          ),
          element('pre', { tabIndex: 0, 'data-language': shown }, text),
        );
      }
      return (props) => {
        const [path, method] = props.pathMethod;
        return element(
          React.Fragment,
          null,
          element(Samples, { path, method, key: `${method} ${path}` }),
          element(Original, props),
        );
      };
    },
  },
});

/** The document contains no references. Swagger UI copies the whole document several times to look for them, which takes seconds. */
const withoutReferencesPlugin = () => ({
  fn: {
    resolveSubtree: async (document, path) => ({
      spec: path.reduce((part, name) => part?.[name], document),
      errors: [],
    }),
  },
});

/**
 * Layout of the reference inside the page's own main element: Swagger UI's has another one, and a choice of servers, of which there is one. Its paths are
 * links inside buttons, which assistive technology cannot tell apart.
 */
const layoutPlugin = ({ React: { createElement: element } }) => ({
  components: {
    ReferenceLayout({ getComponent, specSelectors }) {
      const part = (name) => element(getComponent(name, true), { key: name });
      if (specSelectors.loadingStatus() !== 'success')
        return element('p', { role: 'status' }, 'Loading the reference ...');
      return element(
        'div',
        { className: 'swagger-ui' },
        element(getComponent('SvgAssets')),
        part('InfoContainer'),
        element('div', { className: 'scheme-container' }, part('AuthorizeBtnContainer')),
        element('h2', null, 'Requests'),
        part('operations'),
      );
    },
  },
  wrapComponents: { DeepLink: () => (props) => element('span', { className: 'nostyle' }, props.text) },
});

/** Names the selections of parameters, which have no label, and puts the headings of an operation right below "Requests", also without that of its tag. */
function completeMarkup() {
  for (const select of document.querySelectorAll('tr[data-param-name] select:not([aria-label])'))
    select.setAttribute('aria-label', select.closest('tr').dataset.paramName);
  for (const heading of document.querySelectorAll('.opblock h4:not([aria-level])'))
    heading.setAttribute('aria-level', '3');
}
new MutationObserver(completeMarkup).observe(document.getElementById('reference'), { childList: true, subtree: true });

// Swagger UI switches to its dark sheet by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
// Since version 5.33 Swagger UI renders only the operations in view when there are 150 of them: a link to one then ends beside it now and then, and the
// browser's search does not find the others. The version before is used.
const reference = globalThis.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [samplesPlugin, withoutReferencesPlugin, layoutPlugin],
  layout: 'ReferenceLayout',
  // Its colours are too weak to read.
  syntaxHighlight: false,
  onComplete: () => key !== '' && reference.preauthorizeApiKey('header', key),
});
