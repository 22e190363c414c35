import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { Worlds } from "../world/world.ts";

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

  /** What the filters of a query come from. */
  const documents = () => (["cohorts", "projects"] as const).map((it) => worlds.versionOf(it));
  return (project) => [changesOfAll, changes.get(project) ?? 0, log.firstSeq, ...documents()].join(" ");
}
