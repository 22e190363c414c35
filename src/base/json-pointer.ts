/** Steps from the root of a document to a place in it. */
export type Path = readonly (string | number)[];

/** One step as RFC 6901 writes it, its slash included. */
export const pointerStep = (step: PropertyKey): string =>
  `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** RFC 6901; the root is the empty text. */
export const pointerTo = (path: Path): string => path.map(pointerStep).join("");

/** The steps of a pointer. */
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
