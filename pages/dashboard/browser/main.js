/** Views; each loads its own modules. */
const views = {
  account: async () => (await import('./account.js')).showAccount(),
  'sign-in': async () => (await import('./sign-in.js')).showSignIn(),
  link: async () => (await import('./link.js')).showLink(),
  reset: async () => (await import('./link.js')).showLink(),
};

void views[document.body.dataset.view]();
