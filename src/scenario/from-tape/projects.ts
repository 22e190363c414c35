import type { createFold } from "./fold.ts";
import type { KeyRing } from "./keys.ts";
import type { Found } from "./types.ts";

/** A project and what stands for its key on the tape. */
export interface Slot {
  /** Its number as text; undefined: only its key is on the tape. */
  readonly id: string | undefined;
  readonly document: Found | undefined;
  readonly placeholders: string[];
  /** The tape does not say that this is the project's key. */
  isGuess: boolean;
}

type Fold = ReturnType<typeof createFold>;

/** What belongs to a project. */
export const contentKinds = [
  "dashboards",
  "insights",
  "feature_flags",
  "cohorts",
  "batch_exports",
  "persons",
] as const;

const isNumber = (id: string | undefined): id is string => id !== undefined && /^\d{1,15}$/.test(id);

/** The projects of a tape: those it shows, those it has something of, and those it has a key of. */
export function slotsOf(fold: Fold, ring: KeyRing): Slot[] {
  const slots = new Map<string, Slot>();
  const open = (id: string, document?: Found): Slot => {
    const slot = slots.get(id) ?? { id, document, placeholders: [], isGuess: false };
    slots.set(id, slot);
    return slot;
  };
  for (const it of fold.all("projects"))
    if (isNumber(it.id)) {
      const token = it.fields.get("api_token");
      const { placeholders } = open(it.id, it);
      if (typeof token === "string" && token !== "") placeholders.push(token);
    }
  for (const kind of contentKinds)
    for (const { project } of fold.all(kind)) if (isNumber(project)) open(project);
  for (const { text, project } of ring.all("project"))
    if (isNumber(project)) {
      const { placeholders } = open(project);
      if (!placeholders.includes(text)) placeholders.push(text);
    }
  return withLooseKeys([...slots.values()], ring);
}

/** Keys that no answer ties to a project: one for each project without, in order; the rest are projects of their own. */
function withLooseKeys(slots: Slot[], ring: KeyRing): Slot[] {
  const tied = new Set(slots.flatMap(({ placeholders }) => placeholders));
  const loose = ring.all("project").filter(({ text, accepted }) => accepted && !tied.has(text));
  const free = slots.filter(({ placeholders }) => placeholders.length === 0);
  const added: Slot[] = [];
  for (const [i, { text }] of loose.entries()) {
    const slot = free[i] ?? { id: undefined, document: undefined, placeholders: [], isGuess: false };
    slot.placeholders.push(text);
    slot.isGuess = true;
    if (!free[i]) added.push(slot);
  }
  return [...slots, ...added];
}
