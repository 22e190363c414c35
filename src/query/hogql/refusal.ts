import { SimError } from "../../base/errors.ts";
import type { Place } from "./ast.ts";

interface Placed {
  readonly start?: Place;
  readonly end?: Place;
}

/** An error about a place of a query; the text of the query is not needed to make one. */
export class Refusal extends Error {
  readonly at: Placed | undefined;

  constructor(message: string, at?: Placed) {
    super(message);
    this.name = "Refusal";
    this.at = at?.start ? at : undefined;
  }
}

/** Runs `work`; what it refuses without a place gets this one. */
export function placed<T>(at: Placed, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal && !error.at ? new Refusal(error.message, at) : error;
  }
}

/** Line and column, both from 1, of a character. */
function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = [...text].slice(0, offset).join("").split("\n");
  return { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
}

/** The service's error, with line and column (from 1) and the offsets `start` and `end` of the place. */
export function refused(error: Refusal, text: string): SimError {
  const { start, end } = error.at ?? {};
  if (!start) return new SimError("invalid_input", error.message);
  const { line, column } = positionOf(text, start.offset);
  return new SimError("invalid_input", `${error.message} (line ${line}, column ${column})`, {
    data: { start: start.offset, end: end?.offset ?? start.offset, line, column },
  });
}

/** A computation in steps whose refusals become the service's errors. */
export function* refusing<T, S>(text: string, steps: Generator<S, T, undefined>): Generator<S, T, undefined> {
  try {
    return yield* steps;
  } catch (error) {
    throw error instanceof Refusal ? refused(error, text) : error;
  }
}
