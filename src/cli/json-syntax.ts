/** Where JSON text stops being JSON. Line and column count from 1. */
export interface SyntaxSpot {
  line: number;
  column: number;
}

const token =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b))/uy;

/** What may come next; an open bracket adds a level, its partner ends it. */
type Expect = "value" | "value or ]" | "key or }" | "key" | ":" | ", or end" | "nothing";

/**
 * The first place at which the text cannot go on as JSON. `JSON.parse` tells an offset for some mistakes
 * only, so the text is walked again; call it for text that JSON.parse refused.
 */
export function syntaxSpot(text: string): SyntaxSpot {
  const at = brokenAt(text);
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function brokenAt(text: string): number {
  const open: string[] = [];
  let expect: Expect = "value";
  token.lastIndex = 0;
  for (;;) {
    const from = token.lastIndex;
    const found = token.exec(text);
    const next: Expect | undefined | null =
      found && follow(expect, found[1] ?? (found[2] ? "string" : "value"), open);
    if (!next) return from + (/^[ \t\r\n]*/.exec(text.slice(from))?.[0].length ?? 0);
    expect = next;
  }
}

const afterValue = (open: readonly string[]): Expect => (open.length > 0 ? ", or end" : "nothing");

/** One step of the grammar; undefined when this token may not come here. Changes `open`. */
function follow(expect: Expect, kind: string, open: string[]): Expect | undefined {
  const wantsValue = expect === "value" || expect === "value or ]";
  const wantsKey = expect === "key" || expect === "key or }";
  if (kind === "string" && wantsKey) return ":";
  if (kind === "string" || kind === "value") return wantsValue ? afterValue(open) : undefined;
  if (kind === ":") return expect === ":" ? "value" : undefined;
  if (kind === ",") return expect !== ", or end" ? undefined : open.at(-1) === "{" ? "key" : "value";
  if (kind === "{" || kind === "[") {
    if (!wantsValue) return undefined;
    open.push(kind);
    return kind === "{" ? "key or }" : "value or ]";
  }
  const mayEnd = expect === ", or end" || expect === (kind === "}" ? "key or }" : "value or ]");
  if (!mayEnd || open.at(-1) !== (kind === "}" ? "{" : "[")) return undefined;
  open.pop();
  return afterValue(open);
}
