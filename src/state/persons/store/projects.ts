import { slotLimit } from "./rows.ts";

export interface ProjectEntry {
  project: number;
  persons: number;
  /** Distinct ids that belong to a person. */
  ids: number;
  personless: number;
  groups: number;
  /** Names of the group types; the position is the index. */
  groupTypes: readonly string[];
}

const noPersons = (project: number): ProjectEntry => ({
  project,
  persons: 0,
  ids: 0,
  personless: 0,
  groups: 0,
  groupTypes: [],
});

export function createProjectSlots() {
  const entries: ProjectEntry[] = [];
  const slots = new Map<number, number>();
  /** Number of projects at the mark, and the earlier values of those that changed since. */
  let marked = 0;
  let before = new Map<ProjectEntry, ProjectEntry>();

  function slot(project: number): number {
    const known = slots.get(project);
    if (known !== undefined) return known;
    if (entries.length === slotLimit) throw new RangeError(`people of more than ${slotLimit} projects`);
    slots.set(project, entries.length);
    return entries.push(noPersons(project)) - 1;
  }

  function settle(): void {
    marked = 0;
    before = new Map();
  }

  return {
    entries,
    /** The slot, created if missing. @throws RangeError for more than a million projects */
    slot,
    /** -1 for a project without people, also earlier. */
    find: (project: number) => slots.get(project) ?? -1,
    known: (project: number) => entries[slots.get(project) ?? -1],
    /** The entry, to be changed. */
    entry(at: number) {
      const found = entries[at];
      if (!found) throw new RangeError(`no project slot ${at}`);
      if (at < marked && !before.has(found)) before.set(found, { ...found });
      return found;
    },
    mark() {
      marked = entries.length;
      before = new Map();
    },
    settle,
    /** Reverts changes since `mark`. */
    revert() {
      for (const { project } of entries.splice(marked)) slots.delete(project);
      for (const [entry, old] of before) Object.assign(entry, old);
      settle();
    },
    clear() {
      entries.length = 0;
      slots.clear();
    },
    load(loaded: readonly ProjectEntry[]) {
      for (const entry of loaded) entries[slot(entry.project)] = entry;
    },
  };
}

/** Projects by slot: a small number for the tables' columns. */
export type ProjectSlots = ReturnType<typeof createProjectSlots>;
