import { FlagFailure } from "./reasons.ts";

/** A semantic version; build metadata is dropped. */
export interface Version {
  numbers: readonly [major: number, minor: number, patch: number];
  prerelease: readonly string[];
}

const shape = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9a-z.-]+))?(?:\+[0-9a-z.-]*)?$/i;

/**
 * Reads `v1.2.3-rc.1+build`; missing numbers are 0. undefined when it is no version.
 * @throws FlagFailure for four and more numbers, where upstream's behaviour is not known.
 */
export function versionOf(text: string): Version | undefined {
  const found = shape.exec(text.trim());
  if (!found) {
    if (/^v?\d+(?:\.\d+){3,}/i.test(text.trim())) throw new FlagFailure("unsupported_version");
    return undefined;
  }
  return {
    numbers: [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)],
    prerelease: found[4]?.split(".") ?? [],
  };
}

const isNumeric = (part: string): boolean => /^\d+$/.test(part);

function compareParts(a: string, b: string): number {
  if (isNumeric(a) && isNumeric(b)) return Number(a) - Number(b);
  if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(a[i] ?? "", b[i] ?? "");
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Negative, zero or positive, in the order of SemVer 2.0. */
export function compareVersions(a: Version, b: Version): number {
  for (const i of [0, 1, 2] as const) {
    if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] - b.numbers[i];
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** Versions from `from` (inclusive) up to `to` (exclusive). */
export interface VersionRange {
  from: Version;
  to: Version;
}

const release = (major: number, minor: number, patch: number): Version => ({
  numbers: [major, minor, patch],
  prerelease: [],
});

export const isInRange = (version: Version, range: VersionRange): boolean =>
  compareVersions(version, range.from) >= 0 && compareVersions(version, range.to) < 0;

/** `~1.2.3`: the same minor version. */
export function tildeRange(text: string): VersionRange | undefined {
  const from = versionOf(text.replace(/^~/, ""));
  return from && { from, to: release(from.numbers[0], from.numbers[1] + 1, 0) };
}

/** `^1.2.3`: the same leftmost non-zero number. */
export function caretRange(text: string): VersionRange | undefined {
  const from = versionOf(text.replace(/^\^/, ""));
  if (!from) return undefined;
  const [major, minor, patch] = from.numbers;
  if (major > 0) return { from, to: release(major + 1, 0, 0) };
  return { from, to: minor > 0 ? release(0, minor + 1, 0) : release(0, 0, patch + 1) };
}

/** `1.*`, `1.2.*` or `*`. */
export function wildcardRange(text: string): VersionRange | undefined {
  if (text === "*") return { from: release(0, 0, 0), to: release(Infinity, 0, 0) };
  const found = /^v?(\d+)(?:\.(\d+))?\.\*$/i.exec(text);
  if (!found) return undefined;
  const major = Number(found[1]);
  if (found[2] === undefined) return { from: release(major, 0, 0), to: release(major + 1, 0, 0) };
  const minor = Number(found[2]);
  return { from: release(major, minor, 0), to: release(major, minor + 1, 0) };
}
