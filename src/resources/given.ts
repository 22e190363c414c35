/**
 * The fields that a body has, of those named: spread over a document they change only what was sent. An absent
 * key must not be there at all, or it would be spread as undefined.
 */
export function given<T extends object, K extends keyof T & string>(
  fields: T,
  names: readonly K[],
): { [N in K]?: Exclude<T[N], undefined> } {
  const entries = names.flatMap((name) =>
    fields[name] === undefined ? [] : [[name, fields[name]] as const],
  );
  return Object.fromEntries(entries) as { [N in K]?: Exclude<T[N], undefined> };
}
