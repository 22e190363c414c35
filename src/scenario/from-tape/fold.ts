import type { Found, FromTapeOptions, Kind, Sighting } from "./types.ts";

/** More documents than anybody edits by hand; a hostile tape has no end of them. */
const mostDocuments = 20_000;

/** Collects documents as they are seen, for the world before the tape or after it. */
export function createFold({ state = "end" }: Pick<FromTapeOptions, "state">) {
  const documents = new Map<string, Found>();
  let left = 0;

  function found({ kind, id, project }: Sighting): Found | undefined {
    const key = `${kind} ${id}`;
    const known = documents.get(key);
    if (known || documents.size >= mostDocuments) return known;
    const it: Found = {
      kind,
      id,
      project,
      fields: new Map(),
      made: false,
      changed: false,
      gone: false,
    };
    documents.set(key, it);
    return it;
  }

  return {
    see(sighting: Sighting): void {
      const isNew = !documents.has(`${sighting.kind} ${sighting.id}`);
      if (sighting.how === "gone" && isNew) return;
      const it = found(sighting);
      if (!it) left++;
      else (state === "end" ? seeLast : seeFirst)(it, sighting, isNew);
    },
    /** What there is, in the order in which it was made. */
    all: (kind: Kind): Found[] =>
      inOrder(
        kind,
        [...documents.values()].filter(
          (it) => it.kind === kind && !(state === "end" ? it.gone : it.made) && it.fields.size > 0,
        ),
      ),
    left: () => left,
  };
}

/** Numbers tell which came first; where there are none, lists do: they begin with the newest. */
function inOrder(kind: Kind, found: Found[]): Found[] {
  if (kind === "persons" || kind === "batch_exports") return found.reverse();
  const isNumbered = kind !== "users" && found.every(({ id }) => /^\d+$/.test(id));
  return isNumbered ? found.sort((a, b) => Number(a.id) - Number(b.id)) : found;
}

/** The last word counts; a list says less than a detail, so that what it leaves out stays. */
function seeLast(it: Found, { how, fields, project }: Sighting): void {
  it.project = project ?? it.project;
  it.gone = how === "gone";
  for (const [key, value] of fields) it.fields.set(key, value);
}

/** The first word counts, until something was changed. */
function seeFirst(it: Found, { how, fields, project, set }: Sighting, isNew: boolean): void {
  if (how === "made" && isNew) it.made = true;
  it.project ??= project;
  if (!it.changed && how !== "gone")
    for (const [key, value] of fields) if (!it.fields.has(key) && !set?.has(key)) it.fields.set(key, value);
  if (how !== "read") it.changed = true;
}
