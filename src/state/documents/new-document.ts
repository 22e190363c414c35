/** As the blank value of a field: the time of the document's creation. */
export const now = Symbol("now");

/** How a scenario differs from the world: an e-mail address is a user's id, a time has any offset, tags are not tidy. */
export type AuthoredForm = "user" | "time" | "tags" | "same";

/** A new document; its keys are in the order of the given ones. @param time Wire time */
export function newDocument(blanks: Readonly<Record<string, unknown>>, given: object, time: string): object {
  const values = Object.entries(blanks).map(([name, blank]) => [name, blank === now ? time : structuredClone(blank)]);
  return { ...given, ...Object.fromEntries(values), ...given };
}

/**
 * The part of a kind that builds documents; it has no shapes, because a start builds a world and must not load them.
 * @param authored The fields that a scenario may set, with their forms: `name created_at:time`
 */
export function kindValues<K extends { blank(given: never, time?: string): unknown }>(
  authored: string,
  blanks: Readonly<Record<string, unknown>>,
) {
  return {
    authored: Object.fromEntries(authored.split(" ").map((it) => [...it.split(":"), "same"])) as Record<
      string,
      AuthoredForm
    >,
    blanks,
    blank: (given: Parameters<K["blank"]>[0], time = "") =>
      newDocument(blanks, given as object, time) as ReturnType<K["blank"]>,
  };
}
