import { grantText, isSecretParameter, mayBeSecretParameter, type NameSecrecy, secrecyOf } from "./names.ts";

/** What the value of a field becomes; the same text when it is no secret. */
export type TakeNamed = (name: string, value: string) => string;

type SecrecyOf = (name: string) => NameSecrecy | undefined;

/** `"password": "` in JSON, in JSON that is a string in JSON (`\"password\": \"`), and with single quotes. */
const quotedHead = /(\\{0,15})(["'])([\w.$ -]{1,80})\1\2\s{0,20}[:=]\s{0,20}\1\2/g;
const pairHead = /(?<=^|[?&#;,\s"'({])([\w.$[\]%-]{1,80})=/g;
const pairValue = /(?:[^&#\s"'<>;,)]|#(?![\w.-]{1,80}=)){1,100000}/y;
const line = /^([ \t]{0,20}([\w.$-]{1,80})[ \t]?:[ \t]{1,20})((?:[A-Za-z]+ )?\S{6,})[ \t]*$/gm;
/** `name="password" value="…"`: an input in markup, or a setting in XML. */
const markup =
  /(\b(?:name|key|id)=(["'])([\w.$-]{1,80})\2\s{1,20}(?:type=["']\w{1,20}["']\s{1,20})?value=(["']))([^"'<>]{1,100000})(?=\4)/gi;
/** A number needs no quotes to be a password. */
const bareNumber = /(["'])([\w.$ -]{1,80})\1(\s{0,20}:\s{0,20})(-?\d[\d.eE+-]*)/g;

const unescaped = (text: string): string => {
  try {
    const value: unknown = JSON.parse(`"${text}"`);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
};

/** Where a quoted value ends: before the quote that is escaped as many times as the one that opened it. */
function endOfQuoted(text: string, from: number, slashes: string, quote: string): number {
  const close = `${slashes}${quote}`;
  for (let at = text.indexOf(close, from); at !== -1; at = text.indexOf(close, at + 1)) {
    if (text[at - 1] !== "\\") return at;
  }
  return text.length;
}

function replaceQuoted(text: string, take: TakeNamed, secrecy: SecrecyOf): string {
  let out = "";
  let done = 0;
  for (const found of text.matchAll(quotedHead)) {
    const [head, slashes = "", quote = "", name = ""] = found;
    const from = found.index + head.length;
    if (from <= done || secrecy(name) === undefined) continue;
    const end = endOfQuoted(text, from, slashes, quote);
    out += text.slice(done, from) + take(name, unescaped(text.slice(from, end)));
    done = end;
  }
  return out + text.slice(done);
}

/** `%20` and `+` undone; as it is, where that does not work. */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return lenient(text);
  }
}

const lenient = (text: string): string =>
  text.replace(/(?:%[\dA-Fa-f]{2})+/g, (run) => {
    const bytes = Buffer.from(run.replaceAll("%", ""), "hex");
    return bytes.toString("utf8");
  });

/** The value of another parameter may be a URL with parameters of its own. */
function replacePairs(text: string, take: TakeNamed, secrecy: SecrecyOf): string {
  const all = grantText(text);
  let out = "";
  let done = 0;
  for (const found of text.matchAll(pairHead)) {
    const from = found.index + found[0].length;
    const name = decodedPart(found[1] ?? "");
    if (found.index < done || (secrecy(name) === undefined && !mayBeSecretParameter(name))) continue;
    pairValue.lastIndex = from;
    const value = pairValue.exec(text)?.[0] ?? "";
    const end = from + value.length;
    const isSecret = value !== "" && (secrecy(name) !== undefined || isSecretParameter(name, value, all));
    const plain = decodedPart(value);
    const taken = isSecret ? take(name, plain) : plain;
    out += text.slice(done, from) + (taken === plain ? value : encodeURIComponent(taken));
    done = end;
  }
  return out + text.slice(done);
}

/**
 * Replaces values of fields with names of secrets, in a text that is not JSON or cannot be parsed: quoted fields,
 * forms, queries, lines like headers.
 */
export function replaceFields(text: string, take: TakeNamed, secrecy: SecrecyOf = secrecyOf): string {
  let out = text;
  if (/["']/.test(out)) {
    out = replaceQuoted(out, take, secrecy).replace(
      bareNumber,
      (whole, quote: string, name: string, colon: string, digits: string) =>
        secrecy(name) === "strong" ? `${quote}${name}${quote}${colon}"${take(name, digits)}"` : whole,
    );
  }
  if (out.includes("=")) {
    out = replacePairs(out, take, secrecy);
    if (out.includes("alue="))
      out = out.replace(markup, (whole, head: string, _quote, name: string, _open, value: string) =>
        secrecy(name) === undefined ? whole : head + take(name, value),
      );
  }
  if (!/:[ \t]/.test(out)) return out;
  return out.replace(line, (whole, head: string, name: string, value: string) =>
    secrecy(name) === undefined ? whole : head + take(name, value),
  );
}
