/** `{{secret:authorization#1}}`: the first secret of this kind on a tape. */
const pattern = /\{\{secret:([a-z\d_]{1,60})#(\d{1,9})\}\}/g;
const whole = new RegExp(`^${pattern.source}$`);

export interface Placeholder {
  /** As it stands: `{{secret:jwt#2}}`. */
  text: string;
  kind: string;
  number: number;
}

export const placeholderText = (kind: string, number: number): string => `{{secret:${kind}#${number}}}`;

export const isPlaceholder = (text: string): boolean => whole.test(text);

/** In a URL or a form they are percent-encoded: `#` and `{` mean something there. */
const encodedPattern = /%7B%7Bsecret(?:%3A|:)([a-z\d_]{1,60})%23(\d{1,9})%7D%7D/gi;

const anyPattern = new RegExp(`${pattern.source}|${encodedPattern.source}`, "gi");

/** The text with what stands around its placeholders changed; they themselves stay. */
export function replaceAround(text: string, change: (part: string) => string): string {
  let out = "";
  let done = 0;
  for (const { 0: found, index } of text.matchAll(anyPattern)) {
    out += change(text.slice(done, index)) + found;
    done = index + found.length;
  }
  return out + change(text.slice(done));
}

/**
 * What a text has where `recorded` has placeholders, in their order, each as short as it can be. Undefined: it differs
 * around them, or one has less than `least` characters.
 */
export function valuesFor(recorded: string, text: string, least: number): string[] | undefined {
  const [first = "", ...rest] = decodedPlaceholders(recorded).split(/\{\{secret:[a-z\d_]{1,60}#\d{1,9}\}\}/);
  const last = rest.pop();
  if (last === undefined || !text.startsWith(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at + least);
    if (found < at + least) return undefined;
    values.push(text.slice(at, found));
    at = found + piece.length;
  }
  const end = text.length - last.length;
  return end >= at + least && text.endsWith(last) ? [...values, text.slice(at, end)] : undefined;
}

/** True if the text could have been `recorded` before its redaction: each placeholder stands for any value. */
export const fitsPlaceholders = (recorded: string, text: string): boolean => valuesFor(recorded, text, 0) !== undefined;

/** All placeholders in a text, percent-encoded ones too, in the order they stand. */
export const placeholdersIn = (text: string): Placeholder[] =>
  text.includes("secret")
    ? [...decodedPlaceholders(text).matchAll(pattern)].map(([found, kind = "", number]) => ({
        text: found,
        kind,
        number: Number(number),
      }))
    : [];

export const decodedPlaceholders = (text: string): string => text.replace(encodedPattern, "{{secret:$1#$2}}");

/** Each placeholder becomes what `value` gives for it; percent-encoded where the placeholder was. */
export const replacePlaceholders = (text: string, value: (placeholder: Placeholder) => string): string => {
  if (!text.includes("secret")) return text;
  const at = (found: string, kind: string, number: string): string =>
    value({ text: placeholderText(kind, Number(number)), kind, number: Number(number) }) || found;
  return text
    .replace(encodedPattern, (found: string, kind: string, number: string) => {
      const given = at(found, kind.toLowerCase(), number);
      return given === found ? found : encodeURIComponent(given);
    })
    .replace(pattern, at);
};
