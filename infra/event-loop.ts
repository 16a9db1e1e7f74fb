/** Resolves in the check phase of the event loop, after the I/O callbacks that are ready have run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
