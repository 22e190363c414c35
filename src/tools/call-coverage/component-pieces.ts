/** Code in a single-file component. */
interface Piece {
  readonly code: string;
  /** Its place in the file. */
  readonly at: number;
  /** An expression, or statements of a handler, in the markup. */
  readonly isMarkup: boolean;
  readonly isJsx: boolean;
}

/** Markup that cannot be read. */
interface Unread {
  readonly at: number;
  readonly message: string;
}

export interface ComponentPieces {
  readonly pieces: readonly Piece[];
  readonly unread: readonly Unread[];
}

export const components = /\.(vue|svelte|astro)$/;

const blank = (text: string): string => text.replace(/[^\n]/g, " ");

/** Frontmatter, scripts, styles and comments: everything but the markup. One that is not closed ends with the file. */
const section =
  /^\s*---(?<front>\r?\n[\s\S]*?)(?:\n---|$)|<!--[\s\S]*?(?:-->|$)|<script\b(?<head>(?:[^<>"']|"[^"]{0,999}"|'[^']{0,999}')*)>(?<script>[\s\S]*?)(?:<\/script\s*>|$)|<style\b[\s\S]*?(?:<\/style\s*>|$)/gi;

const data = /\btype\s*=\s*["']?[\w/+.-]*(json|template|html|glsl|importmap|speculationrules)/i;

/** `@click="…"`, `v-if="…"`, `:title="…"` of Vue, `onclick="…"`. */
const attribute = /(?<=[\s"'])(@|v-(?!slot)|:|on)[^\s=>"'/{}]*\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

const entities: Readonly<Record<string, string>> = {
  ...{ "&quot;": '"', "&apos;": "'", "&#39;": "'", "&#34;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">" },
};
const decoded = (text: string): string => text.replace(/&#?\w+;/g, (it) => entities[it] ?? it);

const token = /[{}]|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/g;

/** Outermost pairs of braces, and those that are not closed. Quotes and slashes outside of braces are text. */
function bracesIn(text: string): { pairs: { start: number; end: number }[]; unclosed: number[] } {
  const open: number[] = [];
  const pairs: { start: number; end: number }[] = [];
  for (let at = text.indexOf("{"); at >= 0; ) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) break;
    if (found[0] === "{") open.push(found.index);
    const start = found[0] === "}" ? open.pop() : undefined;
    if (start !== undefined) {
      while ((pairs.at(-1)?.start ?? -1) > start) pairs.pop();
      pairs.push({ start, end: found.index });
    }
    at = open.length > 0 ? token.lastIndex : text.indexOf("{", token.lastIndex);
  }
  return { pairs, unclosed: open };
}

/** Svelte's blocks and tags as expressions, each character at its place. */
function withoutBlock(code: string): string {
  if (/^\s*(\/[a-z]|#snippet\b|:(then|catch)\b|:else\s*$)/.test(code)) return "";
  const kept = /^\s*#each\b/.test(code)
    ? code.replace(/\sas\s[\s\S]*$/, "")
    : /^\s*#await\b/.test(code)
      ? code.replace(/\s(then|catch)\b[\s\S]*$/, "")
      : code;
  return kept.replace(/^\s*@const\b/, (it) => it.replace("@", " ")).replace(/^\s*(#\w+|:else\s+if|@\w+|\.\.\.)/, blank);
}

/** Elements without an end tag, closed as JSX requires. */
const voidElement =
  /<(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b((?:[^<>"'{}]|"[^"]{0,999}"|'[^']{0,999}'|\{[^{}]{0,999}\})*)(?<!\/)>/gi;

/** The expressions in braces. @param at The markup's place in the file */
export function bracedPieces(markup: string, at: number, isJsx: boolean): ComponentPieces {
  const { pairs, unclosed } = bracesIn(markup);
  return {
    pieces: pairs.map(({ start, end }) => {
      const inner = markup.slice(start + 1, end);
      const code = isJsx ? inner.replace(/^\s*\.\.\./, blank).replace(voidElement, "<$1$2/>") : withoutBlock(inner);
      return { code, at: at + start + 1, isMarkup: true, isJsx };
    }),
    unread: unclosed.map((it) => ({ at: at + it, message: "a brace that is not closed: not read" })),
  };
}

/** `{{ … }}` of Vue. */
const mustaches = (markup: string): ComponentPieces => ({
  pieces: [...markup.matchAll(/\{\{([\s\S]*?)(?:\}\}|$)/g)].map(({ 1: code = "", index }) => ({
    ...{ code, at: index + 2, isMarkup: true, isJsx: false },
  })),
  unread: [],
});

function attributePieces(markup: string): Piece[] {
  return [...markup.matchAll(attribute)].flatMap(({ 0: whole, 1: kind, 2: double, 3: single, index }) => {
    const value = double ?? single ?? "";
    if (kind === "on" && /^\s*\{/.test(value)) return [];
    const code = decoded(whole.startsWith("v-for") ? value.replace(/\sof\s/, " in ") : value);
    return [{ code, at: index + whole.length - value.length - 1, isMarkup: true, isJsx: false }];
  });
}

/** The scripts of a component, and the code in its markup. */
export function componentPieces(text: string, file: string): ComponentPieces {
  const scripts: Piece[] = [];
  const unread: Unread[] = [];
  let markup = "";
  for (const { 0: whole, index, groups = {} } of text.matchAll(section)) {
    const { front, head = "", script } = groups;
    markup += text.slice(markup.length, index) + blank(whole);
    const code = file.endsWith(".astro") ? (front ?? script) : script;
    if (code === undefined || data.test(head)) continue;
    const at =
      index + (front === undefined ? whole.indexOf(">", "<script".length + head.length) + 1 : whole.indexOf("---") + 3);
    scripts.push({ code, at, isMarkup: false, isJsx: /\blang\s*=\s*["']?[jt]sx\b/.test(head) });
  }
  markup += text.slice(markup.length);
  const pug = /<template\b[^>]*\blang\s*=\s*["'](?!html)(\w+)["'][^>]*>/.exec(markup);
  if (pug) unread.push({ at: pug.index, message: `a template in ${pug[1]} is not read` });
  const braces = file.endsWith(".vue") ? mustaches(markup) : bracedPieces(markup, 0, file.endsWith(".astro"));
  return {
    pieces: [...scripts, ...attributePieces(markup), ...braces.pieces].sort((a, b) => a.at - b.at),
    unread: [...unread, ...braces.unread],
  };
}
