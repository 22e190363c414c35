import { isTooDeep, type Json } from "../kernel/json.ts";

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Index after the string that begins at `start`. Hand-written: a pattern runs out of stack at many megabytes. */
function afterString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The numbers of a valid JSON text, as they are spelled. */
function* numbersIn(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = afterString(text, at);
    } else if (code === minus || isDigit(code)) {
      number.lastIndex = at;
      const [found = ""] = number.exec(text) ?? [];
      yield found;
      at += found.length || 1;
    } else at++;
  }
}

/** One spelling for a decimal's value: sign, digits without zeros at the ends, and the place of the point. */
function decimalOf(spelled: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(spelled) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const plain = digits.replace(/0+$/, "");
  const scale = Number(exponent) - fraction.length + digits.length - plain.length;
  return plain === "" ? `${sign}0` : `${sign}${plain}e${scale}`;
}

const isKept = (spelled: string): boolean =>
  decimalOf(spelled) === decimalOf(JSON.stringify(Number(spelled)));

/** Up to 15 digits fit a double; without one of these nothing can be lost. */
const mayLose = /[\d.]{16}|\d[eE]|-0/;

const keepsNumbers = (text: string): boolean => {
  if (!mayLose.test(text)) return true;
  for (const spelled of numbersIn(text)) if (!isKept(spelled)) return false;
  return true;
};

/**
 * A JSON text's value; undefined when it is not JSON, is deeper than the service reads, or has a number that would
 * be another one after parsing (an id above 2^53, -0, more digits than a double has).
 */
export function losslessJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isTooDeep(value) || !keepsNumbers(text) ? undefined : value;
  } catch {
    return undefined;
  }
}
