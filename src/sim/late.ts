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
