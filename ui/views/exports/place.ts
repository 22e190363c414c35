import { link } from "../../app/location.ts";
import type { Route } from "../../app/route.ts";

/** What is shown of the exports. */
export interface Place {
  /** The export whose runs are listed; undefined: those of all. */
  readonly export: string | undefined;
  /** The run beside the list. */
  readonly run: string | undefined;
  /** The list begins after this run; undefined: with the newest. */
  readonly before: string | undefined;
}

/** Where an address leads. */
export function placeOf({ path: [first, second], params }: Route): Place {
  const { export: of, before } = params;
  return first === "runs" ? { export: of, run: second, before } : { export: first, run: undefined, before };
}

/** The address of a place. */
export const linkTo = ({ export: of, run, before }: Place): string =>
  run === undefined
    ? link("exports", of === undefined ? [] : [of], { before })
    : link("exports", ["runs", run], { export: of, before });
