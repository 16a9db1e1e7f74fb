import { $, el } from '/app/assets/dom.js';
import { RequestError } from './requests.js';

/**
 * Asks before something that cannot be undone. `content`: elements of the form; `action`: text of the button; `work`: runs at the confirmation, and
 * closes the dialog unless it throws. Focus returns to where it was.
 */
export function confirmed({ title, content, action, danger = false, work }) {
  const dialog = $('dialog');
  const before = document.activeElement;
  const problem = el('p', { role: 'alert', class: 'bad-number' });
  const cancel = el('button', { type: 'button' }, 'Cancel');
  const submit = el('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, action);
  const form = el(
    'form',
    { method: 'dialog' },
    el('h2', { id: 'dialog-title' }, title),
    ...content,
    problem,
    el('p', { class: 'actions' }, cancel, submit),
  );
  dialog.replaceChildren(form);
  cancel.addEventListener('click', () => dialog.close());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      await work();
      dialog.close();
    } catch (error) {
      if (!(error instanceof RequestError)) reportError(error);
      problem.textContent = error.message;
    }
    submit.disabled = false;
  });
  const onClose = () => {
    // Late, of the dialog before this one: the event follows the close, after which a key may have opened this one already.
    if (form.parentNode === dialog && dialog.open) return;
    dialog.removeEventListener('close', onClose);
    if (form.parentNode !== dialog) return;
    dialog.replaceChildren();
    if (document.activeElement === document.body || document.activeElement === null) before?.focus?.();
  };
  dialog.addEventListener('close', onClose);
  dialog.showModal();
}
