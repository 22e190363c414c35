import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Problems } from "../../src/sim/problem-shapes.ts";
import type { Resource } from "../api/resource.ts";
import { keep, kept } from "../parts/browser-storage.ts";
import { project } from "./location.ts";
import { newProblems } from "./new-problems.ts";
import { problemKeys, readSeen, unseen, withSeen } from "./seen-problems.ts";
import { info, useProblems } from "./sim.ts";

const name = "phx-sim-seen-problems";

/** The problems of a project, or of all: `of` is the project at the time they were asked for. */
interface KnownProblems extends Resource<Problems> {
  readonly of: number | undefined;
}

/** The problems of the chosen project, once they are known; the shell reads them for every view. */
export const problems = signal<KnownProblems | undefined>(undefined);
/** Increases with each change of what was seen. */
const changes = signal(0);

const run = computed(() => (info.value === undefined ? undefined : String(info.value.pid)));

const seenNow = () => readSeen(kept(name), run.value ?? "");

/** Keys of the problems that were not seen on Start yet. */
export const news = computed<readonly string[]>(() => {
  void changes.value;
  const { data, of } = problems.value ?? {};
  if (!data || run.value === undefined) return [];
  return unseen(problemKeys(data), seenNow(), of);
});

/**
 * What Start shows is seen: that, and nothing that came since. While the sim still counts, problems are missing: they
 * would be forgotten, and new again.
 */
export function markSeen({ data, of }: KnownProblems): void {
  if (!data || data.counting || run.value === undefined) return;
  keep(name, JSON.stringify(withSeen(seenNow(), problemKeys(data), of)));
  changes.value++;
}

/** Follows the problems, and shows nothing; the shell has it in every view. */
export function ProblemWatch(): null {
  const of = project.value;
  const found = useProblems(of);
  const count = news.value.length;
  useEffect(() => {
    problems.value = { ...found, of };
  }, [of, found.data, found.problem, found.isLoading]);
  useEffect(() => {
    newProblems.value = count;
  }, [count]);
  return null;
}
