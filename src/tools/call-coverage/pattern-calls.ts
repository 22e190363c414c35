import { type CallSite, isClientName, mentionsPosthog, type SourceCalls, sdkCallOf, sitesOf } from "./calls.ts";

/** How a language is written, as far as calls need it. */
interface Language {
  readonly endings: readonly string[];
  /** Begin a comment up to the end of the line. */
  readonly lineComments: readonly string[];
  readonly blockComments: readonly (readonly [open: string, close: string])[];
  /** Longest first. */
  readonly quotes: readonly string[];
  /** Between a client and its method. */
  readonly dot: string;
  /** After a method: `(`, in Go `{` of a literal, in Ruby nothing. */
  readonly open: string;
  /** In a string, makes it computed. */
  readonly computed: RegExp;
  /** Of two arguments without names, the second is the event. */
  readonly isSecondEvent?: true;
}

const cComments = { lineComments: ["//"], blockComments: [["/*", "*/"]] } as const;

const languages: readonly Language[] = [
  {
    endings: ["py"],
    lineComments: ["#"],
    blockComments: [],
    quotes: ['"""', "'''", '"', "'"],
    dot: "\\.",
    open: "\\(",
    computed: /^\w*f\w*["']/i,
    isSecondEvent: true,
  },
  {
    endings: ["rb", "rake"],
    lineComments: ["#"],
    blockComments: [["\n=begin", "\n=end"]],
    quotes: ['"', "'"],
    dot: "&?\\.",
    open: "[( ]",
    computed: /#\{/,
  },
  { endings: ["go"], ...cComments, quotes: ['"', "`"], dot: "\\.", open: "[({]", computed: /$^/ },
  {
    endings: ["php"],
    lineComments: ["//", "#"],
    blockComments: [["/*", "*/"]],
    quotes: ['"', "'"],
    dot: "(?:::|\\??->)",
    open: "\\(",
    computed: /^".*[$]/s,
  },
  { endings: ["kt", "kts"], ...cComments, quotes: ['"""', '"'], dot: "(?:\\?|!!)?\\.", open: "\\(", computed: /\$/ },
  { endings: ["swift"], ...cComments, quotes: ['"""', '"'], dot: "[?!]?\\.", open: "\\(", computed: /\\\(/ },
];

const byEnding = new Map(languages.flatMap((it) => it.endings.map((ending) => [ending, it] as const)));

/** The endings of files in these languages. */
export const patternEndings: readonly string[] = [...byEnding.keys()];

/** End of a string that begins at `start`; strings with one quote end with their line. */
function endOfString(text: string, start: number, quote: string): number {
  for (let i = start + quote.length; i < text.length; i++) {
    if (text[i] === "\\" && quote !== "`") i++;
    else if (text.startsWith(quote, i)) return i + quote.length;
    else if (text[i] === "\n" && quote.length === 1 && quote !== "`") return i;
  }
  return text.length;
}

/** The text with its comments, and the content of its strings, as spaces: each character stays at its place. */
function codeOf(text: string, { lineComments, blockComments, quotes }: Language): string {
  let code = "";
  const blank = (from: number, to: number) => text.slice(from, to).replace(/[^\n]/g, " ");
  for (let i = 0; i < text.length; ) {
    const block = blockComments.find(([open]) => text.startsWith(open, i));
    const quote = quotes.find((it) => text.startsWith(it, i));
    if (block || lineComments.some((it) => text.startsWith(it, i))) {
      const at = block ? text.indexOf(block[1], i + block[0].length) : text.indexOf("\n", i);
      const end = at < 0 ? text.length : at + (block ? block[1].length : 0);
      code += blank(i, end);
      i = end;
    } else if (quote !== undefined) {
      const end = endOfString(text, i, quote);
      const isClosed = text.endsWith(quote, end) && end >= i + 2 * quote.length;
      code += quote + blank(i + quote.length, isClosed ? end - quote.length : end) + (isClosed ? quote : "");
      i = end;
    } else code += text[i++];
  }
  return code;
}

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Place after the bracket that closes the one at `start`. */
function endOfBracket(code: string, start: number): number {
  let depth = 0;
  for (let i = start; i < code.length; i++) {
    if (/[([{]/.test(code[i] ?? "")) depth++;
    else if (/[)\]}]/.test(code[i] ?? "") && --depth === 0) return i + 1;
  }
  return code.length;
}

interface Part {
  readonly start: number;
  readonly end: number;
}

/** The parts between commas that are in no bracket. */
function argumentsIn(code: string, start: number, end: number): Part[] {
  const parts: Part[] = [];
  let first = start;
  for (let i = start; i < end; i++) {
    if (closing[code[i] ?? ""] !== undefined) i = endOfBracket(code, i) - 1;
    else if (code[i] === ",") {
      parts.push({ start: first, end: i });
      first = i + 1;
    }
  }
  return [...parts, { start: first, end }].filter((it) => code.slice(it.start, it.end).trim() !== "");
}

/** End of arguments without brackets: of the line, and of the next one after a comma. */
function endOfLine(code: string, start: number): number {
  let end = code.indexOf("\n", start);
  while (end > 0 && /,\s*$/.test(code.slice(start, end))) end = code.indexOf("\n", end + 1);
  return end < 0 ? code.length : end;
}

interface Argument {
  readonly text: string;
  /** In a hash or a literal. */
  readonly isInner: boolean;
}

/** Reads one file in one of the languages. */
class PatternReader {
  readonly #text: string;
  readonly #code: string;
  readonly #language: Language;
  readonly #texts = new Map<string, string | null>();

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
    this.#code = codeOf(text, language);
    for (const found of this.#code.matchAll(/([A-Za-z_]\w*)\s*(?::\s*[\w.]+\s*)?:?=\s*(?=["'`])/g)) {
      const [all, name = ""] = found;
      const start = found.index + all.length;
      const line = this.#code.indexOf("\n", start);
      const end = line < 0 ? this.#code.length : line;
      const value = this.#literal(this.#text.slice(start, end).replace(/[\s;,)]*(?:(?:\/\/|#).*)?$/, ""));
      const known = this.#texts.get(name);
      this.#texts.set(name, known !== undefined && known !== value ? null : (value ?? null));
    }
  }

  #literal(text: string): string | undefined {
    if (this.#language.computed.test(text)) return undefined;
    return /^[a-z]{0,2}("""|'''|["'`])((?:(?!\1).)*)\1$/is.exec(text)?.[2];
  }

  /** The string of an expression; undefined if it is computed. */
  #value(given: string): string | undefined {
    const text = given.trim();
    const symbol = this.#language.endings.includes("rb") ? /^:(\w+)$/.exec(text)?.[1] : undefined;
    const name = /^[$@A-Za-z_][\w.:]*$/.test(text) ? /\w+$/.exec(text)?.[0] : undefined;
    return symbol ?? this.#literal(text) ?? (name === undefined ? undefined : (this.#texts.get(name) ?? undefined));
  }

  /** The arguments of a call, and of a hash or a literal in it. */
  #arguments(start: number, end: number): Argument[] {
    return argumentsIn(this.#code, start, end).flatMap((it): Argument[] => {
      const text = this.#text.slice(it.start, it.end).trim();
      const code = this.#code.slice(it.start, it.end);
      const open = /^\s*(?:[\w.]*\{|\[|array\()/.exec(code);
      if (!open || !/[\]})]\s*$/.test(code)) return [{ text, isInner: false }];
      const from = it.start + open[0].length;
      const inner = argumentsIn(this.#code, from, it.start + code.trimEnd().length - 1);
      return inner.map((part) => ({ text: this.#text.slice(part.start, part.end).trim(), isInner: true }));
    });
  }

  /** The expression that names the event or the flag. */
  #named(start: number, end: number, kind: CallSite["kind"]): string | undefined {
    const all = this.#arguments(start, end);
    const word = kind === "flag" ? "key" : "event";
    const pair = new RegExp(`^[:"']?${word}["']?\\s*(?:=>|=(?!=)|:)\\s*([\\s\\S]+)$`, "i");
    const named = all.map(({ text }) => pair.exec(text)?.[1]).find((it) => it !== undefined);
    if (named !== undefined) return named;
    const plain = all.filter(({ text, isInner }) => !isInner && !/^\w+\s*(?:=(?!=)|:(?!:))/.test(text));
    const isSecond = this.#language.isSecondEvent === true && kind === "event" && plain.length > 1;
    const second = isSecond ? plain[1]?.text : undefined;
    return second !== undefined && this.#value(second) !== undefined ? second : plain[0]?.text;
  }

  sites(): CallSite[] {
    const { dot, open } = this.#language;
    const isMentioned = mentionsPosthog(this.#text);
    return [...this.#code.matchAll(new RegExp(`${dot}\\s*(\\w+)(${open})`, "g"))].flatMap((found) => {
      const [all, method = "", bracket = ""] = found;
      const call = sdkCallOf(method);
      const before = this.#code.slice(Math.max(0, found.index - 120), found.index);
      const chain = /([$@\w\\][$@\w\\.:>?!()-]*)\s*$/.exec(before)?.[1] ?? "";
      const owners = chain.split(/[^\w]+/).filter(Boolean);
      const isClient = owners.some((it, i) => isClientName(it, isMentioned && i === owners.length - 1));
      if (!call || !isClient) return [];
      // only Go has literals, and only they are calls there
      if (bracket === "{" && !/^[A-Z]/.test(method)) return [];
      const after = found.index + all.length;
      const start = bracket === " " ? after : after - 1;
      const end = bracket === " " ? endOfLine(this.#code, start) : endOfBracket(this.#code, start) - 1;
      const from = bracket === " " ? start : start + 1;
      const expression = call.event === undefined ? this.#named(from, end, call.kind) : undefined;
      const name = expression === undefined ? undefined : this.#value(expression);
      const at = found.index + all.indexOf(method);
      const lines = this.#text.slice(0, at).split("\n");
      const place = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
      return sitesOf(method, call, name === undefined ? [] : [name], place);
    });
  }
}

/** The calls of a file in one of the languages of `patternEndings`. */
export function patternCalls(text: string, file: string): SourceCalls {
  const language = byEnding.get(/\.(\w+)$/.exec(file)?.[1] ?? "");
  return { sites: language ? new PatternReader(text, language).sites() : [], problems: [] };
}
