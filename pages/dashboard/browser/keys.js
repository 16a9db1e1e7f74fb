// Keys of the account: list, create, rename, rotate, revoke. A raw key is shown once, when it is created.

import { $, el, time } from '/app/assets/dom.js';
import { confirmed } from './dialog.js';
import { showList } from './list.js';
import { onSubmit, request, showProblem } from './requests.js';

const GRACES = [
  [0, 'stops at once'],
  [3_600, 'works for 1 hour more'],
  [86_400, 'works for 1 day more'],
  [604_800, 'works for 7 days more'],
];

/** Shows a raw key with a button that copies it. */
function showNewKey({ api_key: key, name }) {
  const status = el('span', { role: 'status' });
  const copy = el('button', { type: 'button', class: 'primary' }, 'Copy key');
  const code = el('code', { id: 'raw-key' }, key);
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(key);
      status.textContent = 'Copied.';
    } catch {
      getSelection()?.selectAllChildren(code);
      status.textContent = 'Selected: copy it with the keyboard.';
    }
  });
  const done = el('button', { type: 'button' }, 'I have stored it');
  const box = el(
    'div',
    { class: 'notice', tabindex: '-1', role: 'group', 'aria-labelledby': 'raw-key-title' },
    el('p', { id: 'raw-key-title' }, el('b', {}, `Key “${name}”. `), 'It is shown this once: store it now.'),
    el('p', { class: 'secret' }, code, copy, done, status),
  );
  done.addEventListener('click', () => {
    $('new-key').replaceChildren();
    $('key-name').focus();
  });
  $('new-key').replaceChildren(box);
  box.focus();
}

export function createKeys({ limits }) {
  const action = (text, label, work, danger = false) => {
    const button = el('button', { type: 'button', 'aria-label': label, class: danger ? 'danger' : null }, text);
    button.addEventListener('click', work);
    return button;
  };

  const rename = ({ id, name }) => {
    const input = el('input', { id: 'rename', maxlength: 100, required: true, autocomplete: 'off', value: name });
    confirmed({
      title: `Rename “${name}”`,
      content: [el('p', { class: 'entry' }, el('label', { for: 'rename' }, 'Name'), input)],
      action: 'Rename',
      work: async () => {
        await request('PATCH', `/v1/account/keys/${id}`, { name: input.value });
        await refresh();
      },
    });
  };
  const rotate = ({ id, name }) => {
    const options = GRACES.map(([seconds, text]) =>
      el('option', { value: seconds, selected: seconds === 86_400 }, text),
    );
    const grace = el('select', { id: 'grace' }, ...options);
    confirmed({
      title: `Replace “${name}”`,
      content: [
        el('p', {}, 'A new key takes over the name and the copy-trading pool.'),
        el('p', { class: 'entry' }, el('label', { for: 'grace' }, 'The present key'), grace),
      ],
      action: 'Replace key',
      work: async () => {
        const body = { grace_seconds: Number(grace.value) };
        showNewKey(await request('POST', `/v1/account/keys/${id}/rotate`, body));
        await refresh();
      },
    });
  };
  const revoke = ({ id, name }) =>
    confirmed({
      title: `Revoke “${name}”?`,
      content: [
        el('p', {}, 'Requests with this key fail from now on, and its sockets are closed. This cannot be undone.'),
      ],
      action: 'Revoke key',
      danger: true,
      work: async () => {
        await request('DELETE', `/v1/account/keys/${id}`);
        await refresh();
        $('keys-status').textContent = `“${name}” is revoked.`;
        $('key-name').focus();
      },
    });

  let isUseKnown = true;
  const lastUse = ({ last_used_at: at }) => (at === null ? (isUseKnown ? 'not yet' : 'unknown') : time(at));
  const columns = [
    { title: 'Name', kind: 'name', cell: (key) => el('b', {}, key.name) },
    { title: 'Key', cell: (key) => el('span', { class: 'mono' }, `${key.prefix}…`) },
    { title: 'Created', cell: (key) => time(key.created_at) },
    { title: 'Last use', cell: lastUse },
    { title: 'Expires', cell: (key) => (key.expires_at === null ? 'never' : time(key.expires_at)) },
    {
      title: '',
      cell: (key) =>
        el(
          'span',
          { class: 'actions' },
          ...(key.expires_at === null
            ? [
                action('Rename', `Rename ${key.name}`, () => rename(key)),
                action('Replace', `Replace ${key.name}`, () => rotate(key)),
              ]
            : []),
          action('Revoke', `Revoke ${key.name}`, () => revoke(key), true),
        ),
    },
  ];

  async function load() {
    const { keys, last_use_known: known } = await request('GET', '/v1/account/keys');
    isUseKnown = known;
    showList('keys', {
      columns,
      rows: keys,
      empty: 'No keys yet. Create one to use the API.',
      labelledBy: 'keys-title',
    });
    const used = keys.filter((key) => key.expires_at === null).length;
    $('keys-status').textContent = `${used} of ${limits.api_keys}`;
  }

  /** After a change, which is done whether the list can be read or not: a new key must be shown, and nothing must be sent again. */
  const refresh = () => load().catch(showProblem);

  onSubmit($('create-form'), async () => {
    showNewKey(await request('POST', '/v1/account/keys', { name: $('key-name').value }));
    $('key-name').value = '';
    await refresh();
  });
  return { load };
}
