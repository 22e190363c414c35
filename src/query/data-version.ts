import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { Cohort, Worlds } from "../world/world.ts";

interface Data {
  readonly log: TrafficLog;
  readonly people: PeopleStore;
  readonly worlds: Worlds;
}

/** The version of the data of a project: another text whenever a query of it may have another result. */
export function createDataVersion({ log, people, worlds }: Data): (project: number) => string {
  const changes = new Map<number, number>();
  let changesOfAll = 0;

  function changed(project: number | null): void {
    if (project === null) changesOfAll++;
    else changes.set(project, (changes.get(project) ?? 0) + 1);
  }

  log.subscribe(({ count, entry }) => {
    if (count > 0) changed(entry.project);
  });
  log.onVeiled(({ project }) => changed(project));
  people.onChange((change) => {
    if (change?.kind === "person") changed(change.person.project);
    else if (change?.kind === "group") changed(change.group.project);
    else changed(change && "project" in change ? change.project : null);
  });

  /** Cohorts of a project as they were last seen; the project of another test changes only the collection. */
  const seen = new Map<number, { readonly version: number; readonly cohorts: readonly Cohort[] }>();
  function noteCohorts(project: number): void {
    const version = worlds.versionOf("cohorts");
    const before = seen.get(project);
    if (before?.version === version) return;
    const cohorts = worlds.current.cohorts.filter((it) => it.project === project);
    const isSame = cohorts.length === before?.cohorts.length && cohorts.every((it, i) => it === before.cohorts[i]);
    if (!isSame) changed(project);
    seen.set(project, { version, cohorts });
  }

  return (project) => {
    noteCohorts(project);
    return [changesOfAll, changes.get(project) ?? 0, log.firstSeq].join(" ");
  };
}
