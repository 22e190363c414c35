import { useEffect, useState } from "preact/hooks";
import type { Problems } from "../../src/control/problems-answer.ts";
import type { Totals } from "../../src/control/totals-answer.ts";
import { query } from "../api/call.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { numberText } from "../parts/text.ts";
import { revision } from "./sim.ts";

export type { Totals };

/** Which rows are counted; nothing: all. */
interface Counted {
  readonly project: number | undefined;
  readonly events?: string;
  readonly requests?: string;
}

/** Asked again after this long while the sim has not counted everything, ms. */
const pause = 500;

/** Something that the sim may need several calls for; asked again as requests come. */
export function useCounted<T>(path: string | null, isComplete: (it: T) => boolean): Resource<T> {
  const [found, setFound] = useState<T>();
  const told = useResource<T>(path, {
    revision: revision.value,
    ...(found && !isComplete(found) && { every: pause }),
  });
  const { data } = told;
  useEffect(() => setFound(() => data), [data]);
  return told;
}

/** The totals of what lists show a part of: counted by the sim, over all that arrived. Undefined until they are known. */
export const useTotals = ({ project, events, requests }: Counted): Totals | undefined =>
  useCounted<Totals>(
    `totals${query({ project, events, requests })}`,
    (it) => it.events.complete && it.requests.complete,
  ).data;

/** The problems that were found and not cleared. */
export const useProblems = (project: number | undefined): Resource<Problems> =>
  useCounted<Problems>(`problems${query({ project })}`, (it) => it.complete);

/** A figure: one that is not exact says so. */
export const figureText = (count: number, isExact: boolean): string =>
  isExact ? numberText(count) : `at least ${numberText(count)}`;
