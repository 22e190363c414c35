import { compareText } from "../../../kernel/base/text.ts";

/** A semantic version. Numbers are kept as digits without leading zeros: they may be larger than a double holds. */
export interface Version {
  readonly numbers: readonly [major: string, minor: string, patch: string];
  /** What follows `-`, "" when there is nothing. */
  readonly prerelease: string;
  /** What follows `+`, "" when there is nothing. It counts in comparisons, after everything else. */
  readonly build: string;
}

const whole = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;
const largest = "18446744073709551615";

const isNumeric = (part: string): boolean => /^\d+$/.test(part);
const withoutZeros = (part: string): string => (isNumeric(part) ? part.replace(/^0+(?=\d)/, "") : part);

/** A `v` in front and blanks around are not part of a version. */
const normalized = (text: string): string => text.replace(/^v/, "").trim();

/** `3.08-rc` → `3.8.0-rc`: leading zeros go, missing numbers are 0. */
function canonical(text: string): string {
  const end = text.search(/[-+]/);
  const numbers = (end < 0 ? text : text.slice(0, end)).split(".").map(withoutZeros);
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + (end < 0 ? "" : text.slice(end));
}

const isPrerelease = (text: string): boolean => text.split(".").every((part) => part !== "" && !/^0\d+$/.test(part));

/**
 * Reads `v1.2.3-rc.1+build`; undefined when it is no version, as with four and more numbers. Upstream
 * PostHog rust/feature-flags, property_matching; the syntax is that of Rust's `semver`.
 */
export function versionOf(text: string): Version | undefined {
  const found = whole.exec(canonical(normalized(text)));
  if (!found) return undefined;
  const [, major = "", minor = "", patch = "", prerelease = "", build = ""] = found;
  const numbers = [major, minor, patch] as const;
  const fits = numbers.every((it) => compareNumbers(it, largest) <= 0);
  const isWellFormed = prerelease === "" || isPrerelease(prerelease);
  return fits && isWellFormed && !build.split(".").slice(1).includes("") && !build.startsWith(".")
    ? { numbers, prerelease, build }
    : undefined;
}

/** Digits without leading zeros. */
const compareNumbers = (a: string, b: string): number => a.length - b.length || compareText(a, b);

/** Numbers come before words; of equal numbers the one with more leading zeros comes later. */
function compareParts(a: string, b: string): number {
  if (!isNumeric(a) || !isNumeric(b)) return isNumeric(a) ? -1 : isNumeric(b) ? 1 : compareText(a, b);
  return compareNumbers(withoutZeros(a), withoutZeros(b)) || a.length - b.length;
}

function compareLists(a: string, b: string): number {
  const [left, right] = [a.split("."), b.split(".")];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareParts(left[i] ?? "", right[i] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** A version without a prerelease comes after all its prereleases. */
function comparePrereleases(a: string, b: string): number {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  return compareLists(a, b);
}

/**
 * Negative, zero or positive, in the order of SemVer 2.0; versions that differ in their build only are
 * ordered by it, and never equal. Upstream: Rust's `semver`.
 */
export function compareVersions(a: Version, b: Version): number {
  for (const i of [0, 1, 2] as const) {
    const order = compareNumbers(a.numbers[i], b.numbers[i]);
    if (order !== 0) return order;
  }
  const order = comparePrereleases(a.prerelease, b.prerelease);
  if (order !== 0 || a.build === b.build) return order;
  return a.build === "" || b.build === "" ? a.build.length - b.build.length : compareLists(a.build, b.build);
}

export type VersionRange = (version: Version) => boolean;

interface Wanted {
  readonly numbers: readonly string[];
  readonly prerelease: string;
}

/** A prerelease is admitted only by a requirement that names one of the same version. */
const admits = (wanted: Wanted, version: Version): boolean =>
  version.prerelease === "" || (wanted.prerelease !== "" && wanted.numbers.every((it, i) => it === version.numbers[i]));

/**
 * From the wanted version (inclusive) on, as long as the first `fixed` numbers are the same. Upstream:
 * Rust's `semver`, which orders by the patch number only where the minor one is fixed.
 */
const upwards =
  (wanted: Wanted, fixed: number): VersionRange =>
  (version) => {
    if (!admits(wanted, version)) return false;
    for (let i = 0; i < wanted.numbers.length; i++) {
      const order = compareNumbers(version.numbers[i] ?? "", wanted.numbers[i] ?? "");
      if (order !== 0) return i >= fixed && order > 0;
    }
    return wanted.numbers.length < 3 || comparePrereleases(version.prerelease, wanted.prerelease) >= 0;
  };

/** `~1.2.3`: the same minor version. The value is written without the sign. */
export function tildeRange(text: string): VersionRange | undefined {
  const wanted = versionOf(text);
  return wanted && upwards(wanted, 2);
}

/** How many numbers must stay: up to the leftmost that is not 0. */
const leftmost = (numbers: readonly string[]): number => numbers.findIndex((it) => it !== "0") + 1 || 3;

/** `^1.2.3`: the same leftmost non-zero number. The value is written without the sign. */
export function caretRange(text: string): VersionRange | undefined {
  const wanted = versionOf(text);
  return wanted && upwards(wanted, leftmost(wanted.numbers));
}

const isWild = (part: string): boolean => part === "*" || part.toLowerCase() === "x";

/**
 * `1.*`, `1.2.*`, `1.*.*` or `*`; a version without a wildcard means what `^` does, with the numbers that
 * it has. undefined for anything else. Upstream as `versionOf`.
 */
export function wildcardRange(text: string): VersionRange | undefined {
  const parts = normalized(text).split(".").map(withoutZeros);
  const wild = parts.findIndex(isWild);
  if (wild < 0) return partialCaret(parts, text);
  const numbers = parts.slice(0, wild);
  const isSound = parts.length <= 3 && numbers.every(isNumeric) && parts.slice(wild).every(isWild);
  if (!isSound || (wild === 0 && parts.length > 1)) return undefined;
  return ({ numbers: own, prerelease }) => prerelease === "" && numbers.every((it, i) => it === own[i]);
}

function partialCaret(parts: readonly string[], text: string): VersionRange | undefined {
  if (parts.length >= 3) return caretRange(text);
  if (!parts.every(isNumeric)) return undefined;
  const fixed = parts[0] === "0" ? parts.length : 1;
  return upwards({ numbers: parts, prerelease: "" }, fixed);
}
