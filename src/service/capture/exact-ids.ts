import { parsedJson, sortedText } from "../../kernel/base/json.ts";

/** A key of a distinct id, and its number or bracket. Quotes in strings are escaped, so that this is no part of one. */
const idNumber = /([{,]\s*"\$?distinct_id"\s*:\s*)(?:(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=\s*[,}])|(?=[[{]))/g;

const [lowest, highest] = [-(2n ** 63n), 2n ** 64n - 1n];

function digitsOf(value: number): { digits: string; point: number } {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
}

/** A float as the service writes it: `1e20`, `100.0`, `1.5e-7`. Rust's ryu, which serde_json uses. */
function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const { digits, point } = digitsOf(Math.abs(value));
  if (point > 16 || point <= -5) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits.charAt(0)}${rest}e${point - 1}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits}${"0".repeat(point - digits.length)}.0`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function numberText(number: string): string {
  if (/^-?\d+$/.test(number) && number !== "-0") {
    const whole = BigInt(number);
    if (whole >= lowest && whole <= highest) return String(whole);
  }
  return floatText(Number(number));
}

const idTree = /[{,]\s*"\$?distinct_id"\s*:\s*(?=[[{])/g;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[[\]{}]/gs;
/** Characters of an object or a list that is read for its numbers: of an id, 200 are kept. */
const longestTree = 1000;

/** The object or list that this text begins with; undefined if it does not end. */
function treeIn(text: string): string | undefined {
  let depth = 0;
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part === "{" || part === "[") depth++;
    else if ((part === "}" || part === "]") && --depth === 0) return text.slice(0, index + 1);
  }
  return undefined;
}

const mark = "\u{f8ff}";

/** A distinct id that is an object or a list, as the service writes it; undefined if it is not JSON. */
function treeText(tree: string): string | undefined {
  const marked = tree.replace(token, (part) => (/^[-\d]/.test(part) ? `"${mark}${numberText(part)}"` : part));
  const value = parsedJson(marked);
  return value === undefined ? undefined : sortedText(value).replaceAll(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
}

/** The same with ids that are objects or lists as text, where `JSON.parse` does not keep their numbers. */
function withExactTrees(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { 0: key, index } of text.matchAll(idTree)) {
    const from = index + key.length;
    if (from < done) continue;
    const tree = treeIn(text.slice(from, from + longestTree));
    const [exact, read] = tree === undefined ? [] : [treeText(tree), parsedJson(tree)];
    const isKept = exact === undefined || read === undefined || exact === sortedText(read);
    const end = from + (tree?.length ?? longestTree);
    parts.push(text.slice(done, from), isKept ? text.slice(from, end) : JSON.stringify(exact));
    done = end;
  }
  return parts.join("") + text.slice(done);
}

/** JSON whose distinct ids are numbers that JSON.parse does not keep, with those as text; undefined if it has none. */
export function withExactIds(text: string): string | undefined {
  if (!text.includes('distinct_id"')) return undefined;
  let isChanged = false;
  let hasTrees = false;
  const numbers = text.replace(idNumber, (whole, before: string, number: string | undefined) => {
    if (number === undefined) {
      hasTrees = true;
      return whole;
    }
    const shown = numberText(number);
    if (shown === String(Number(number)) || !Number.isFinite(Number(number))) return whole;
    isChanged = true;
    return `${before}"${shown}"`;
  });
  const exact = hasTrees ? withExactTrees(numbers) : numbers;
  return isChanged || exact !== numbers ? exact : undefined;
}
