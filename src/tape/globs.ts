import { pathOf } from "./routes.ts";

const escaped = (text: string): string => text.replace(/[\\^$.+|()[\]{}]/g, "\\$&");

const wild: Readonly<Record<string, string>> = { "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };

/** A glob as a pattern over a whole path. */
function patternOf(glob: string): RegExp {
  const rooted = glob.startsWith("/") ? glob : `**/${glob}`;
  const plain = rooted.length > 1 ? rooted.replace(/\/$/, "") : rooted;
  const source = plain.split(/(\/\*\*$|\*\*|\*|\?)/).map((part) => wild[part] ?? escaped(part));
  return new RegExp(`^${source.join("")}$`);
}

/** A name, of a route or an event, as it may be given: `*` stands for any text. */
export function namePattern(name: string): RegExp {
  return new RegExp(`^${name.split("*").map(escapedName).join(".*")}$`, "s");
}

const escapedName = (text: string): string => text.replace(/[\\^$.+?|()[\]{}]/g, "\\$&");

/**
 * Does one of the globs fit a path? `*` is any part of a segment, `**` any number of segments, `?` one character; a
 * slash at the end, the path's or the glob's, does not count; a glob that begins without a slash fits anywhere
 * (`*.js`). An empty list fits nothing. @throws TypeError when a glob is empty
 */
export function globs(list: readonly string[]): (target: string) => boolean {
  if (list.some((it) => it.trim() === ""))
    throw new TypeError("a path pattern is empty; write /api/** or *.js");
  const patterns = list.map(patternOf);
  return (target) => {
    const path = pathOf(target);
    return patterns.some((it) => it.test(path));
  };
}
