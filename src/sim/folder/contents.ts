import { readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeDraft } from "../../kernel/base/draft.ts";
import { isObject, type Json, parsedJson } from "../../kernel/base/json.ts";
import type { Damage } from "../../kernel/store/damage.ts";

const fileName = "contents.json";

type Contents = Readonly<Record<string, string>>;

type Found = Readonly<Record<string, () => string>>;

/** Keeps in contents.json which files have content, so that a missing one is reported: its store would begin anew. */
export class FolderContents {
  readonly #folder: string;
  readonly #report: (damage: Damage) => void;
  #known: Contents;

  constructor(folder: string, report: (damage: Damage) => void) {
    this.#folder = folder;
    this.#report = report;
    this.#known = readContents(join(folder, fileName));
  }

  /** Reports what is missing since the last run. Must be called before the files are made again. */
  reportMissing(): void {
    for (const [name, held] of Object.entries(this.#known)) {
      const file = join(this.#folder, name);
      if (!isEmpty(file)) continue;
      const how = statSync(file, { throwIfNoEntry: false }) ? "empty" : "missing";
      this.#report({ file, line: null, detail: `this file is ${how}: what it held is lost (${held})` });
    }
  }

  /** Keeps what the folder has now, if other files have content than before, or if `isLast`; reports what was deleted meanwhile. */
  keep(found: Found, isLast = false): void {
    const pathOf = (name: string) => join(this.#folder, name);
    const names = Object.keys(found).filter((it) => !isEmpty(pathOf(it)));
    for (const name of Object.keys(this.#known))
      if (found[name] && !names.includes(name)) {
        const detail = `another program deleted or emptied this file while the sim ran: what it held is lost (${this.#known[name]})`;
        this.#report({ file: pathOf(name), line: null, detail });
      }
    const file = pathOf(fileName);
    const isSame = names.join() === Object.keys(this.#known).join() && !isEmpty(file);
    if (isSame && !isLast) return;
    this.#write(Object.fromEntries(names.map((it) => [it, found[it]?.() ?? ""])));
  }

  /** Must be called before the sim removes the content of a file. */
  drop(name: string): void {
    const { [name]: dropped, ...others } = this.#known;
    if (dropped !== undefined) this.#write(others);
  }

  #write(known: Contents): void {
    this.#known = known;
    const file = join(this.#folder, fileName);
    const draft = `${file}.tmp`;
    try {
      writeDraft(draft, `${JSON.stringify(known, null, 2)}\n`);
      renameSync(draft, file);
    } catch {
      // a help only; the next one may succeed
    }
  }
}

const isEmpty = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

function readContents(file: string): Contents {
  let found: Json | undefined;
  try {
    found = parsedJson(readFileSync(file, "utf8"));
  } catch {
    // none: an older version's folder, or a new one
  }
  const isText = (entry: [string, Json]): entry is [string, string] => typeof entry[1] === "string";
  return isObject(found) ? Object.fromEntries(Object.entries(found).filter(isText)) : {};
}
