/** A part that V8's own search finds quickly in any text. */
const shortPart = 64;

/** The place of a part in a text, or -1. It takes steps for each of their characters; `indexOf` takes text × part for some. */
export function placeOf(text: string, part: string, from = 0): number {
  if (part.length <= shortPart || text.length - from < part.length) return text.indexOf(part, from);
  // Knuth, Morris, Pratt: how much of the part's start ends at each of its places
  const starts = new Uint32Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (length > 0 && code !== part.charCodeAt(length)) length = starts[length - 1] ?? 0;
    if (code === part.charCodeAt(length)) length++;
    starts[at] = length;
  }
  for (let at = from, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (length > 0 && code !== part.charCodeAt(length)) length = starts[length - 1] ?? 0;
    if (code === part.charCodeAt(length)) length++;
    if (length === part.length) return at + 1 - length;
  }
  return -1;
}

export const containsText = (text: string, part: string): boolean => placeOf(text, part) !== -1;

/** Stands for one character or for any number of them; `isWithin`: for none that is `/`. */
interface Wild {
  readonly is: "one" | "any";
  readonly isWithin?: true;
}

/** A piece of a pattern: text that means itself, or a wildcard. */
export type Piece = string | Wild;

export const [one, any]: readonly [Wild, Wild] = [{ is: "one" }, { is: "any" }];

/** The test of parts of plain text with any characters between them: each is searched behind the one before. */
function plainTest(parts: readonly string[]): (text: string) => boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    const end = text.length - last.length;
    if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of others) {
      const found = placeOf(text, part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}

/** The test of any pieces: the places in the pattern that a text may have reached, character by character. */
function placesTest(pieces: readonly Piece[]): (text: string) => boolean {
  const signs = pieces.flatMap((it): Piece[] => (typeof it === "string" ? [...it] : [it]));
  /** From a place on, over wildcards that may be nothing. */
  function reach(place: number, reached: Uint8Array): void {
    for (let at = place; at <= signs.length && reached[at] === 0; at++) {
      reached[at] = 1;
      const sign = signs[at];
      if (typeof sign !== "object" || sign.is === "one") return;
    }
  }
  return (text) => {
    let now = new Uint8Array(signs.length + 1);
    let next = new Uint8Array(signs.length + 1);
    reach(0, now);
    for (const character of text) {
      next.fill(0);
      for (let at = 0; at < signs.length; at++) {
        if (now[at] === 0) continue;
        const sign = signs[at];
        if (typeof sign !== "object") {
          if (sign === character) reach(at + 1, next);
        } else if (!sign.isWithin || character !== "/") reach(sign.is === "any" ? at : at + 1, next);
      }
      [now, next] = [next, now];
    }
    return now[signs.length] === 1;
  };
}

/** Tests whole texts. For all wildcards of users: at most text × pattern steps, where a regular expression may take forever. */
export function wildcardTest(pieces: readonly Piece[]): (text: string) => boolean {
  const parts = [""];
  for (const it of pieces)
    if (typeof it === "string") parts.push(`${parts.pop() ?? ""}${it}`);
    else if (it.is === "one" || it.isWithin) return placesTest(pieces);
    else parts.push("");
  return plainTest(parts);
}

/** LIKE: `%` is any characters, `_` one; `\` comes before a character that means itself. */
export function likeTest(pattern: string, isCaseless: boolean): (text: string) => boolean {
  const fold = (text: string) => (isCaseless ? text.toLowerCase() : text);
  const signs: Readonly<Record<string, Piece>> = { "%": any, _: one };
  const pieces = Array.from(
    fold(pattern).matchAll(/\\([%_\\])|([%_])|\\|[^%_\\]+/gu),
    ([text, escaped, sign = ""]): Piece => escaped ?? signs[sign] ?? text,
  );
  const test = wildcardTest(pieces);
  return isCaseless ? (text) => test(fold(text)) : test;
}

/** Names of this form; `*` is any characters. */
export const nameTest = (form: string): ((name: string) => boolean) =>
  wildcardTest(form.split("*").flatMap((text, i) => (i === 0 ? [text] : [any, text])));
