import { endOfPiece, joiningBytes } from "./bytes-turns.ts";
import { isObject, type Json, type JsonObject, maxDepth } from "./json.ts";
import { code, endOfString, mostNodes, type NodeRoom, smallText, TooManyLevels, TooManyNodes } from "./json-bounds.ts";
import { bytesPerStep, type Stepwise } from "./work.ts";

/** Characters examined in a step: about a millisecond. */
export const charactersPerStep = 512 * 1024;

/** An object or list whose text is too long for one step. */
interface Large {
  readonly open: number;
  close: number;
  readonly key: number;
  readonly cuts: number[];
  /** Its members that are too long themselves: at most one between two cuts. */
  readonly large: Large[];
}

const invalid = (at: number): SyntaxError => new SyntaxError(`invalid JSON at character ${at}`);

/** Finds the large objects and lists; undefined if the text is no object or list. */
function* measured(text: string, deepest: number, room: NodeRoom): Stepwise<Large | undefined> {
  const path: Large[] = [];
  let root: Large | undefined;
  let string = 0;
  let stepFrom = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    const here = path.at(-1);
    if (char === code.quote) {
      string = at;
      at = endOfString(text, at);
    } else if (char === code.open || char === code.brace) {
      if (root) throw invalid(at);
      if (--room.left < 0) throw new TooManyNodes(mostNodes);
      if (path.length >= deepest) throw new TooManyLevels();
      path.push({ open: at, close: -1, key: string, cuts: [], large: [] });
    } else if (char === code.close || char === code.end) {
      path.pop();
      if (!here || text.charCodeAt(here.open) + 2 !== char) throw invalid(at);
      here.close = at;
      if (path.length === 0) root = here;
      else if (at - here.open > bytesPerStep) path.at(-1)?.large.push(here);
    } else if (char === code.comma && here && at - (here.cuts.at(-1) ?? here.open) > bytesPerStep) here.cuts.push(at);
    if (at - stepFrom < charactersPerStep) continue;
    stepFrom = at;
    yield;
  }
  if (path.length > 0) throw invalid(text.length);
  if (root && (text.slice(0, root.open) + text.slice(root.close + 1)).trim() !== "") throw invalid(root.close);
  return root;
}

const put = (object: JsonObject, key: string, value: Json): void =>
  void Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });

function* built(text: string, { open, close, cuts, large }: Large): Stepwise<Json> {
  const list: Json[] = [];
  const object: JsonObject = {};
  const isList = text.charCodeAt(open) === code.open;
  const add = (members: string): void => {
    const value: Json = JSON.parse(isList ? `[${members}]` : `{${members}}`);
    if (Array.isArray(value)) for (const it of value) list.push(it);
    else if (isObject(value)) for (const [key, it] of Object.entries(value)) put(object, key, it);
  };
  const rest = [...large];
  for (const [i, end] of [...cuts, close].entries()) {
    const from = (cuts[i - 1] ?? open) + 1;
    const child = rest[0] && rest[0].close < end ? rest.shift() : undefined;
    if (!child) {
      const members = text.slice(from, end);
      if (cuts.length > 0 && members.trim() === "") throw invalid(from);
      add(members);
      yield;
      continue;
    }
    // its place is taken first, so that members have the order of the text
    add(`${text.slice(from, child.open)}null`);
    const value = yield* built(text, child);
    if (isList) list[list.length - 1] = value;
    else put(object, JSON.parse(text.slice(child.key, endOfString(text, child.key) + 1)), value);
    const behind = text.slice(child.close + 1, end).trim();
    if (behind === "") continue;
    if (behind.charCodeAt(0) !== code.comma || behind.length === 1) throw invalid(child.close + 1);
    add(behind.slice(1));
    yield;
  }
  return isList ? list : object;
}

/** Parses a long text in many short steps. @throws SyntaxError; TooManyNodes */
export function* parsingJson(
  text: string,
  deepest: number = maxDepth,
  room: NodeRoom = { left: mostNodes },
): Stepwise<Json> {
  const root = yield* measured(text, deepest, room);
  return root ? yield* built(text, root) : JSON.parse(text);
}

interface WriteRoom {
  nodes: number;
  characters: number;
}

/** True if JSON.stringify takes little time for the value. */
export function isQuick(value: unknown, room: WriteRoom = { nodes: 10_000, characters: smallText }): boolean {
  if (--room.nodes < 0) return false;
  if (typeof value === "string") room.characters -= value.length;
  if (typeof value !== "object" || value === null) return room.characters >= 0;
  if ("toJSON" in value) return true;
  if (Array.isArray(value)) return value.every((it) => isQuick(it, room));
  for (const key in value) {
    room.characters -= key.length;
    if (!isQuick((value as Record<string, unknown>)[key], room)) return false;
  }
  return true;
}

export function* writingJson(value: unknown): Stepwise<Buffer> {
  const pieces: Buffer[] = [];
  let waiting = "";
  function* put(text: string): Stepwise<void> {
    waiting += text;
    if (waiting.length < bytesPerStep) return;
    pieces.push(Buffer.from(waiting));
    waiting = "";
    yield;
  }
  function* write(it: unknown): Stepwise<void> {
    if (isQuick(it, { nodes: 1_000, characters: bytesPerStep })) yield* put(JSON.stringify(it) ?? "null");
    else if (typeof it === "string") {
      yield* put('"');
      for (let from = 0; from < it.length; ) {
        const to = endOfPiece(it, from, charactersPerStep);
        yield* put(JSON.stringify(it.slice(from, to)).slice(1, -1));
        from = to;
      }
      yield* put('"');
    } else if (Array.isArray(it)) {
      let between = "[";
      for (let from = 0; from < it.length; between = ",") {
        // as many members as are quick together
        const room = { nodes: 1_000, characters: bytesPerStep };
        let to = from;
        while (to < it.length && isQuick(it[to], room)) to++;
        yield* put(between);
        if (to > from) yield* put(JSON.stringify(it.slice(from, to)).slice(1, -1));
        else yield* write(it[to++]);
        from = to;
      }
      yield* put(between === "[" ? "[]" : "]");
    } else {
      let between = "{";
      for (const [key, member] of Object.entries(it as object)) {
        if (member === undefined) continue;
        yield* put(`${between}${JSON.stringify(key)}:`);
        yield* write(member);
        between = ",";
      }
      yield* put(between === "{" ? "{}" : "}");
    }
  }
  yield* write(value);
  pieces.push(Buffer.from(waiting));
  return yield* joiningBytes(pieces);
}
