import { SimError } from "../base/errors.ts";
import { meantOf } from "../base/nearest.ts";

/** The error for a thing that does not exist, with the nearest name as a hint. */
export function notFound(what: string, name: string, known: readonly string[]): SimError {
  const hint = meantOf(name, known, (it) => it);
  return new SimError("not_found", `there is no ${what} "${name}"`, hint === undefined ? {} : { hint });
}
