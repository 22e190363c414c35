import type { Worlds } from "../../state/documents/world.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";

interface Data {
  readonly log: TrafficLog;
  readonly people: PersonStore;
  readonly worlds: Worlds;
}

/** Kinds of resources that queries read. */
const usedKinds: readonly string[] = ["actions", "experiments"];

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

  /** Documents of a project as they were last seen; those of another project change the same collections. */
  const seen = new Map<number, { readonly versions: string; readonly documents: readonly object[] }>();
  function noteDocuments(project: number): void {
    const versions = (["projects", "cohorts", "resources", "feature_flags"] as const)
      .map((it) => worlds.versionOf(it))
      .join(" ");
    const before = seen.get(project);
    if (before?.versions === versions) return;
    const { projects, cohorts, resources, feature_flags: flags } = worlds.current;
    const used = resources.filter((it) => usedKinds.includes(it.kind) && it.project === project);
    // the exposures of an experiment are found by the key of its flag
    const flagIds = new Set(used.flatMap(({ fields }) => fields.feature_flag_id ?? []));
    const documents = [
      ...projects.filter((it) => it.id === project),
      ...cohorts.filter((it) => it.project === project),
      ...used,
      ...(flagIds.size === 0 ? [] : flags.filter((it) => flagIds.has(it.id))),
    ];
    const isSame =
      documents.length === before?.documents.length && documents.every((it, i) => it === before.documents[i]);
    if (!isSame) changed(project);
    seen.set(project, { versions, documents });
  }

  return (project) => {
    noteDocuments(project);
    return [changesOfAll, changes.get(project) ?? 0, log.firstSeq].join(" ");
  };
}
