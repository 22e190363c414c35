import { computed, signal } from "@preact/signals";
import type { Dialect } from "../../src/kernel/dialect.ts";
import type { Problem } from "../../src/kernel/problem.ts";
import { call } from "../api/call.ts";
import { greetings, stat } from "../feed/socket.ts";
import { plain } from "../parts/text.ts";
import { project } from "./location.ts";

/** The facts of GET /__sim/info that the page uses. */
export interface SimInfo {
  readonly version: string;
  readonly url: string;
  readonly project_api_key: string | null;
  readonly personal_api_key: string | null;
  readonly project_id: number | null;
  readonly projects: readonly { id: number; name: string; api_key: string; adopted: boolean }[];
  readonly scenario: string;
  readonly data: string | null;
  readonly dialect: Dialect;
  readonly scenario_problems: readonly Problem[];
  /** What in the scenario cannot work. */
  readonly scenario_warnings: readonly Problem[];
  /** The last edit of the scenario that is in force: its first changes, and how many there are. */
  readonly scenario_edit: {
    readonly at: number;
    readonly changes: readonly {
      readonly change: "added" | "changed" | "removed";
      readonly kind: string;
      readonly name: string | null;
      readonly project: string | null;
    }[];
    readonly count: number;
  } | null;
  /** What of the data folder cannot be read: the first entries, and how many there are. */
  readonly damage: readonly { file: string; line: number | null; detail: string }[];
  readonly damage_count: number;
}

/** Who the sim is; undefined until it was asked. */
export const info = signal<SimInfo | undefined>(undefined);

/** The key of the project that was chosen, else of the first one. */
export const projectKey = computed<string | undefined>(() => {
  const { projects = [], project_api_key: first } = info.value ?? {};
  return projects.find(({ id }) => id === project.value)?.api_key ?? first ?? undefined;
});

/** Goes up as requests come and as the world changes: what depends on either is asked again. */
export const revision = computed(
  () => `${greetings.value}/${stat.value?.requests ?? 0}/${stat.value?.world ?? 0}`,
);

/** Goes up as the world changes. */
export const worldRevision = computed(() => `${greetings.value}/${stat.value?.world ?? 0}`);

/** Asks who the sim is; keeps what is known when it does not answer. */
export async function loadInfo(): Promise<void> {
  info.value = await call<SimInfo>("GET", "info").catch(() => info.value);
}

/** The name of a project; its number where it has none. It can be shown as it is. */
export function projectName(id: number | null): string {
  if (id === null) return "no project";
  const name = info.value?.projects.find((it) => it.id === id)?.name;
  return name === undefined ? `project ${id}` : plain(name, 60);
}
