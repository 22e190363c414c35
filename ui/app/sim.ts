import { computed, signal } from "@preact/signals";
import type { Info } from "../../src/lab/scenario/state/info-shapes.ts";
import type { Problems } from "../../src/sim/problem-shapes.ts";
import type { Totals } from "../../src/state/journal/totals-answer.ts";
import { call, query } from "../api/call.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { greetings, stat } from "../feed/socket.ts";
import { numberText, plain } from "../parts/text.ts";
import { project } from "./location.ts";

/** Facts about the sim; undefined until loaded. */
export const info = signal<Info | undefined>(undefined);

/** Key of the selected project, else of the first one. */
export const projectKey = computed<string | undefined>(() => {
  const { projects = [], project_api_key: first } = info.value ?? {};
  return projects.find(({ id }) => id === project.value)?.api_key ?? first ?? undefined;
});

/** Changes with each request and each change of the world; used to reload what depends on them. */
export const revision = computed(() => `${greetings.value}/${stat.value?.requests ?? 0}/${stat.value?.world ?? 0}`);

export const worldRevision = computed(() => `${greetings.value}/${stat.value?.world ?? 0}`);

/** Loads the facts about the sim; keeps the old ones if it does not respond. */
export async function loadInfo(): Promise<void> {
  info.value = await call<Info>("GET", "info").catch(() => info.value);
}

/** A project's name, safe to display; its number if it has none. */
export function projectName(id: number | null): string {
  if (id === null) return "no project";
  const name = info.value?.projects.find((it) => it.id === id)?.name;
  return name === undefined ? `project ${id}` : plain(name, 60);
}

export type { Info, Totals };

/** Filters of the counted rows (default: all). */
interface Counted {
  readonly project: number | undefined;
  readonly events?: string;
  readonly requests?: string;
}

/** Pause between calls while the sim is still counting, ms. */
const pause = 500;

/** A resource that the sim may count over several calls; reloaded as requests arrive. */
export const useCounted = <T>(path: string | null, isCounting: (it: T) => boolean): Resource<T> =>
  useResource<T>(path, { revision: revision.value, again: (it) => (it && isCounting(it) ? pause : undefined) });

/** Totals over everything that arrived; undefined until known. */
export const useTotals = ({ project, events, requests }: Counted): Totals | undefined =>
  useCounted<Totals>(
    `totals${query({ project, events, requests })}`,
    (it) => it.events.counting || it.requests.counting,
  ).data;

export const useProblems = (project: number | undefined): Resource<Problems> =>
  useCounted<Problems>(`problems${query({ project })}`, (it) => it.counting);

export const figureText = (count: number, isExact: boolean): string =>
  isExact ? numberText(count) : `at least ${numberText(count)}`;
