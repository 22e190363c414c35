import { SimError } from "../../../kernel/base/errors.ts";
import type { Located } from "./ast.ts";

/** An error about a place of a query; the text of the query is not needed to make one. */
export class Refusal extends Error {
  readonly at: Located | undefined;

  constructor(message: string, at?: Located) {
    super(message);
    this.name = "Refusal";
    this.at = at?.start === undefined ? undefined : at;
  }
}

/** Runs `work`; what it refuses without a place gets this one. */
export function placed<T>(at: Located, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal && !error.at ? new Refusal(error.message, at) : error;
  }
}

/** Where a refusal is in the text of the query, in characters. */
export function placeIn({ at }: Refusal, text: string): { start: number; end: number } | undefined {
  const { start, end = start } = at ?? {};
  if (start === undefined || end === undefined) return undefined;
  return { start: [...text.slice(0, start)].length, end: [...text.slice(0, end)].length };
}

/** The service's error, with line and column (from 1), and the offsets `start` and `end` of the place in characters. */
function refused(error: Refusal, text: string): SimError {
  const place = placeIn(error, text);
  if (!place) return new SimError("invalid_input", error.message);
  const before = [...text].slice(0, place.start);
  const line = before.filter((it) => it === "\n").length + 1;
  const column = before.length - before.lastIndexOf("\n");
  return new SimError("invalid_input", `${error.message} (line ${line}, column ${column})`, {
    data: { ...place, line, column },
  });
}

/** Runs `work`; its refusals become the service's errors. */
export function refusing<T>(text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? refused(error, text) : error;
  }
}

/** The result of `work`; undefined if it refuses. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** @throws Refusal in the service's words. Upstream posthog/hogql/functions/core.py. */
export function checkCount(
  what: string,
  count: number,
  [least, most]: readonly [number, number],
  at: Located,
  of = "argument",
): void {
  if (count >= least && count <= most) return;
  const [bound, words] =
    least === most ? [least, "expects"] : count < least ? [least, "expects at least"] : [most, "expects at most"];
  throw new Refusal(`${what} ${words} ${bound} ${of}${bound === 1 ? "" : "s"}, found ${count}`, at);
}
