import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";

/** Comments on keys and items of a JSON value. */
export class Notes {
  readonly #notes = new WeakMap<object, Map<string | number, string>>();

  note(owner: JsonObject | Json[], key: string | number, text: string): void {
    this.#notes.set(owner, (this.#notes.get(owner) ?? new Map<string | number, string>()).set(key, text));
  }

  of(owner: JsonObject | Json[], key: string | number): string | undefined {
    return this.#notes.get(owner)?.get(key);
  }

  has(owner: JsonObject | Json[]): boolean {
    return this.#notes.has(owner);
  }
}

const maxWidth = 110;

/** JSON with each note above its key or item; short values without notes are on one line. */
export const jsonWithNotes = (value: Json, notes: Notes): string => `${printed(value, notes, "", 0)}\n`;

/** @param before Characters before the value in its line */
function printed(value: Json, notes: Notes, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const short = hasNotes(value, notes) ? undefined : onOneLine(value);
  if (short !== undefined && indent.length + before + short.length < maxWidth) return short;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([key, it]) => {
    const note = notes.of(value, isList ? Number(key) : key);
    const start = isList ? "" : `${JSON.stringify(key)}: `;
    const line = `${deeper}${start}${printed(it, notes, deeper, start.length)}`;
    return note === undefined ? line : `${deeper}// ${note}\n${line}`;
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

const hasNotes = (value: JsonObject | Json[], notes: Notes): boolean =>
  notes.has(value) || Object.values(value).some((it) => typeof it === "object" && it !== null && hasNotes(it, notes));

function onOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, it]) => `${JSON.stringify(key)}: ${onOneLine(it)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}
