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

/** The problems of the chosen project; the shell reads them for every view. */
export const problems = signal<Resource<Problems> | undefined>(undefined);
/** Increases with each change of what was seen. */
const changes = signal(0);

const run = computed(() => (info.value === undefined ? undefined : String(info.value.pid)));

const seenNow = () => readSeen(kept(name), run.value ?? "");

/** Keys of the problems that were not seen on Start yet. */
export const news = computed<readonly string[]>(() => {
  void changes.value;
  const data = problems.value?.data;
  if (!data || run.value === undefined) return [];
  return unseen(problemKeys(data), seenNow(), project.value);
});

/** What Start shows is seen. */
export function markSeen(): void {
  const data = problems.value?.data;
  if (!data || run.value === undefined) return;
  keep(name, JSON.stringify(withSeen(seenNow(), problemKeys(data), project.value)));
  changes.value++;
}

/** Follows the problems, and shows nothing; the shell has it in every view. */
export function ProblemWatch(): null {
  const found = useProblems(project.value);
  const count = news.value.length;
  useEffect(() => {
    problems.value = found;
  }, [found.data, found.problem, found.isLoading]);
  useEffect(() => {
    newProblems.value = count;
  }, [count]);
  return null;
}
