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

/** Counts changes by project; null: of all projects. */
class Changes {
  readonly #all = new Map<number | null, number>();

  add(project: number | null): void {
    this.#all.set(project, (this.#all.get(project) ?? 0) + 1);
  }
  of = (project: number): number => (this.#all.get(null) ?? 0) + (this.#all.get(project) ?? 0);
}

export type DataVersions = ReturnType<typeof createDataVersions>;

/** Notices changes of what queries of a project read. */
export function createDataVersions({ log, people, worlds }: Data) {
  const [arrivals, veils, persons, documentChanges] = [new Changes(), new Changes(), new Changes(), new Changes()];

  log.subscribe(({ count, entry }) => {
    if (count > 0) arrivals.add(entry.project);
  });
  log.onVeiled(({ project }) => veils.add(project));
  people.onChange((change) => {
    if (change?.kind === "person") persons.add(change.person.project);
    else if (change?.kind === "group") persons.add(change.group.project);
    else persons.add(change && "project" in change ? change.project : null);
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
    if (!isSame) documentChanges.add(project);
    seen.set(project, { versions, documents });
  }

  const kinds = [arrivals, veils, persons, documentChanges];
  return {
    /** Another text whenever a query of the project may have another result. */
    versionOf(project: number): string {
      noteDocuments(project);
      return [...kinds.map((it) => it.of(project)), log.firstSeq].join(" ");
    },
    /** Other numbers once events of the project went or came back, and once its people changed. */
    dataOf: (project: number) => ({ epoch: veils.of(project), people: persons.of(project) }),
  };
}
