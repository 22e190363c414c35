export interface Loaded<T> {
  (): Promise<T>;
  /** undefined: it was never needed, or could not be loaded. */
  readonly started: Promise<T> | undefined;
}

/** After a failure the next use tries again. */
export function onFirstUse<T>(load: () => Promise<T>): Loaded<T> {
  let started: Promise<T> | undefined;
  const port = (): Promise<T> => {
    started ??= load().catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };
  return Object.defineProperty(port, "started", { get: () => started }) as Loaded<T>;
}
