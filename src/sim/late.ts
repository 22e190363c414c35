/** A part that is made after the parts that use it. */
export interface Late<T> {
  /** @throws Error when the part is not made yet */
  (): T;
  set(part: T): T;
}

export function late<T>(name: string): Late<T> {
  let made: { part: T } | undefined;
  const port = (): T => {
    if (made === undefined) throw new Error(`a bug in phx-sim: ${name} is used before it is made`);
    return made.part;
  };
  return Object.assign(port, {
    set(part: T) {
      made = { part };
      return part;
    },
  });
}

/** A part that is loaded when it is first needed. */
export interface Loaded<T> {
  (): Promise<T>;
  /** undefined: it was never needed. */
  readonly started: Promise<T> | undefined;
}

export function onFirstUse<T>(load: () => Promise<T>): Loaded<T> {
  let started: Promise<T> | undefined;
  const port = (): Promise<T> => {
    started ??= load();
    return started;
  };
  return Object.defineProperty(port, "started", { get: () => started }) as Loaded<T>;
}
