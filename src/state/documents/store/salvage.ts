import { isObject, type Json, type JsonObject, parsedJson } from "../../../kernel/base/json.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { collections, emptyWorld, type World } from "../world.ts";
import { worldKeys } from "./document.ts";
import { bytesOf, missingDocuments, placeText, sealMark, textOf, validWorld, type WorldIssue } from "./world-file.ts";

/**
 * What can be read of a world.json that phx-sim wrote and that was damaged since. A line that is not JSON costs its document, and
 * so does an invalid document. Undefined when phx-sim did not write the file, or its version cannot be read.
 */
export async function salvagedWorld(file: string, report: (damage: Damage) => void): Promise<World | undefined> {
  const text = textOf(bytesOf(file));
  if (!text.startsWith('{\n  "version": ') && !text.includes(sealMark)) return undefined;
  const { found, damaged } = parsedWhole(text) ?? parsedByLine(text);
  const empty = blankValues();
  const document: JsonObject = { ...empty, version: null, ...found };
  if (document.version !== empty.version) return undefined;
  if (damaged.length === 0)
    for (const detail of missingDocuments(document, sealIn(text))) report({ file, line: null, detail });
  for (const line of damaged) report({ file, line, detail: "this line is damaged: the document that it held is lost" });
  for (;;) {
    const issues: WorldIssue[] = [];
    const world = await validWorld(document, issues);
    if (world) return withoutClashes(world, file, report);
    for (const [place, { path, message }] of placesOf(issues)) {
      report({ file, line: null, detail: `${placeText(path)}: ${message}: ${place} is lost` });
      drop(document, path);
    }
  }
}

function sealIn(text: string): Json | undefined {
  const at = text.lastIndexOf(sealMark);
  return at === -1 ? undefined : parsedJson(text.slice(at + sealMark.length).split("\n")[0] ?? "");
}

const blankValues = (): JsonObject => ({ ...emptyWorld() }) as unknown as JsonObject;

interface Parsed {
  found: JsonObject;
  damaged: number[];
}

function parsedWhole(text: string): Parsed | undefined {
  const found = parsedJson(text);
  return isObject(found) ? { found, damaged: [] } : undefined;
}

const keyLine = /^ {2}"(\w+)": (.*?),?$/;
const listEnd = /^ {2}\],?$/;

const keys: readonly string[] = worldKeys;

/** Reads the layout of world.json: a key a line, in a list a document a line. */
function parsedByLine(text: string): Parsed {
  const found: JsonObject = {};
  const damaged: number[] = [];
  let list: Json[] | undefined;
  let last = "";

  function nextList(): Json[] {
    last = keys[keys.indexOf(last) + 1] ?? last;
    const made: Json[] = [];
    found[last] ??= made;
    return made;
  }

  for (const [i, line] of text.split("\n").entries()) {
    const [, key, value = ""] = keyLine.exec(line) ?? [];
    if (line === "{" || line === "}" || line === "" || listEnd.test(line)) continue;
    if (line.startsWith(sealMark.slice(2))) break;
    if (key !== undefined && keys.includes(key)) {
      last = key;
      list = value === "[" ? [] : undefined;
      const read = list ?? parsedJson(value);
      if (read === undefined) damaged.push(i + 1);
      else found[key] = read;
      continue;
    }
    const isIndented = line.startsWith("    ");
    const document = isIndented ? parsedJson(line.replace(/,$/, "")) : undefined;
    if (document === undefined) {
      damaged.push(i + 1);
      if (!isIndented) list = undefined;
    } else {
      list ??= nextList();
      list.push(document);
    }
  }
  return { found, damaged };
}

/** The first issue of each document or value, the last documents first: removing one moves those behind it. */
function placesOf(issues: readonly WorldIssue[]): Map<string, WorldIssue> {
  const places = new Map<string, WorldIssue>();
  const backwards = issues.toSorted((a, b) => Number(b.path[1] ?? 0) - Number(a.path[1] ?? 0));
  for (const issue of backwards) {
    const place = placeText(issue.path.slice(0, typeof issue.path[1] === "number" ? 2 : 1));
    if (!places.has(place)) places.set(place, issue);
  }
  return places;
}

function drop(document: JsonObject, [key, index]: readonly PropertyKey[]): void {
  const list = document[String(key)];
  if (Array.isArray(list) && typeof index === "number") list.splice(index, 1);
  else document[String(key)] = blankValues()[String(key)] ?? null;
}

/** Of documents that share an id, and of projects that share a key, the first is kept. */
function withoutClashes(world: World, file: string, report: (damage: Damage) => void): World {
  const kept: Record<string, unknown> = { ...world };
  for (const name of collections) {
    const seen = new Set<unknown>();
    kept[name] = (world[name] as readonly { id: unknown; api_key?: unknown }[]).filter((it) => {
      const keys = name === "projects" ? [it.id, it.api_key] : [it.id];
      const isTaken = keys.some((key) => seen.has(key));
      const detail = `${name}: a second document with the id or key ${keys.join(" or ")} is lost`;
      if (isTaken) report({ file, line: null, detail });
      for (const key of keys) seen.add(key);
      return !isTaken;
    });
  }
  // The lists of a world, some of them shorter.
  return kept as unknown as World;
}
