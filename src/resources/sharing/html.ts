const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

/** A piece of a page. Only `html` and `trusted` make one: text of users cannot become one by mistake. */
export interface Html {
  readonly html: string;
}

/** Marks text that was made here as HTML. */
export const trusted = (text: string): Html => ({ html: text });

type Part = Html | readonly Html[] | string | number | undefined;

function written(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "html" in part ? part.html : part.map((it) => it.html).join("");
}

/**
 * A piece of a page: what stands between the braces stays text, in elements and in quoted attributes, unless
 * it is a piece itself. `undefined` is nothing.
 */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  trusted(strings.map((text, i) => (i === 0 ? text : written(parts[i - 1]) + text)).join(""));
