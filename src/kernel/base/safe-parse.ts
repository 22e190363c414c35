import type { z } from "zod";

/** Makes it comparable with a number, without a key that is listed. */
const comparable = { value: () => Number.NaN };

/** Gives a text to every `length` and `size` that has none. */
function withTexts(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if ((key === "length" || key === "size") && typeof inner === "object" && inner !== null)
      Object.defineProperty(inner, Symbol.toPrimitive, comparable);
    withTexts(inner);
  }
}

/** For values from outside: zod compares `length` and `size` of a wrong type as well, and throws if these cannot become text. */
export function safeParse<Shape extends z.ZodType>(
  shape: Shape,
  value: unknown,
  params?: z.core.ParseContext<z.core.$ZodIssue>,
): z.ZodSafeParseResult<z.output<Shape>> {
  try {
    return shape.safeParse(value, params);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    withTexts(value);
    return shape.safeParse(value, params);
  }
}
