import { isObject, type Json, type JsonObject } from "../../base/json.ts";

/** Comments on keys and elements of a tree. */
export interface Notes {
  note(object: JsonObject | Json[], key: string | number, text: string): void;
  of(object: JsonObject | Json[], key: string | number): string | undefined;
  has(object: JsonObject | Json[]): boolean;
}

export function createNotes(): Notes {
  const notes = new WeakMap<object, Map<string | number, string>>();
  return {
    note(object, key, text) {
      const its = notes.get(object) ?? new Map<string | number, string>();
      its.set(key, text);
      notes.set(object, its);
    },
    of: (object, key) => notes.get(object)?.get(key),
    has: (object) => notes.has(object),
  };
}

const widest = 110;

/**
 * JSON with comments: a note stands above what it is about; what has none and is short stands on one line.
 */
export function printWithNotes(value: Json, notes: Notes): string {
  return `${printed(value, notes, "", 0)}\n`;
}

function printed(value: Json, notes: Notes, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const short = isQuiet(value, notes) ? onOneLine(value) : undefined;
  if (short !== undefined && indent.length + before + short.length < widest) return short;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((it, i) => withNote(value, i, `${deeper}${printed(it, notes, deeper, 0)}`, notes, deeper))
    : Object.entries(value).map(([key, it]) => {
        const start = `${JSON.stringify(key)}: `;
        return withNote(
          value,
          key,
          `${deeper}${start}${printed(it, notes, deeper, start.length)}`,
          notes,
          deeper,
        );
      });
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function withNote(
  object: JsonObject | Json[],
  key: string | number,
  line: string,
  notes: Notes,
  indent: string,
): string {
  const note = notes.of(object, key);
  return note === undefined ? line : `${indent}// ${note}\n${line}`;
}

function isQuiet(value: JsonObject | Json[], notes: Notes): boolean {
  if (notes.has(value)) return false;
  return Object.values(value).every((it) => typeof it !== "object" || it === null || isQuiet(it, notes));
}

function onOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, it]) => `${JSON.stringify(key)}: ${onOneLine(it)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}
