import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject } from "../../base/json.ts";

/** A posthog-js package found on this machine. */
export interface Installed {
  version: string;
  /** Absolute path of its `dist` folder. */
  dist: string;
}

/** Every folder from `start` up to the root. */
function* upward(start: string): Generator<string> {
  let folder = start;
  while (true) {
    yield folder;
    const parent = dirname(folder);
    if (parent === folder) return;
    folder = parent;
  }
}

async function installedAt(folder: string): Promise<Installed | undefined> {
  const home = join(folder, "node_modules", "posthog-js");
  try {
    const manifest: unknown = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
    return isObject(manifest) && typeof manifest.version === "string"
      ? { version: manifest.version, dist: join(home, "dist") }
      : undefined;
  } catch {
    // Not installed here, or unreadable: the next folder may have it.
    return undefined;
  }
}

/** All posthog-js packages that code in these folders could load, nearest first, each version once. */
export async function findInstalled(starts: readonly string[]): Promise<Installed[]> {
  const folders = new Set(starts.flatMap((start) => [...upward(start)]));
  const found = await Promise.all([...folders].map(installedAt));
  const versions = new Map<string, Installed>();
  for (const one of found) {
    if (one && !versions.has(one.version)) versions.set(one.version, one);
  }
  return [...versions.values()];
}

/** "1.449.2" → [1, 449, 2]; undefined for anything that is not one to three numbers. */
function numbers(version: string): number[] | undefined {
  return /^\d{1,9}(\.\d{1,9}){0,2}$/.test(version) ? version.split(".").map(Number) : undefined;
}

/** Compares as many parts as both have: 1 and 1.449.2 are equal. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, part] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 0;
    if (part !== other) return part - other;
  }
  return 0;
}

const partsOf = (installed: Installed): number[] => numbers(installed.version) ?? [0];

const newest = (all: readonly Installed[]): Installed | undefined =>
  all.toSorted((a, b) => compare(partsOf(b), partsOf(a)))[0];

/**
 * The package whose scripts fit a page of version `asked` (`1.449.2`, `1.449`, `1`, or absent):
 * that version; else the newest of the same minor version; else the newest later one of the same major
 * version, as the service's CDN serves the latest to everybody. Earlier scripts under a later page break it
 * (measured: 1.200 under 1.449), so they are never chosen. Absent: the nearest.
 */
export function fitting(all: readonly Installed[], asked: string | undefined): Installed | undefined {
  const wanted = asked === undefined ? undefined : numbers(asked);
  if (!wanted) return all[0];
  const exact = all.find((one) => one.version === asked);
  if (exact) return exact;
  const sameMajor = all.filter((one) => partsOf(one)[0] === wanted[0]);
  const sameMinor = sameMajor.filter((one) => compare(wanted.slice(0, 2), partsOf(one)) === 0);
  return newest(sameMinor) ?? newest(sameMajor.filter((one) => compare(partsOf(one), wanted) >= 0));
}
