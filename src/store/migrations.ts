import type { JsonObject } from "../kernel/json.ts";

/** Makes a document of the next version; it may change what it is given. The new version number is set for it. */
export type Migration = (old: JsonObject) => JsonObject;

/** The migration at index i makes version i + 2 of the world document from version i + 1. */
export const migrations: readonly Migration[] = [];

/** Why a document cannot be brought to this version. */
export class UnknownVersionError extends Error {
  readonly isNewer: boolean;

  constructor(found: unknown, newest: number) {
    const isNewer = typeof found === "number" && found > newest;
    super(
      isNewer
        ? `it has version ${found}, this phx-sim knows versions up to ${newest}`
        : `"version" must be a whole number from 1 to ${newest}`,
    );
    this.name = "UnknownVersionError";
    this.isNewer = isNewer;
  }
}

/**
 * The document in the newest version.
 * @throws UnknownVersionError when its version is newer than ours, or not a version at all.
 */
export function migrate(document: JsonObject, steps: readonly Migration[] = migrations): JsonObject {
  const newest = steps.length + 1;
  const { version } = document;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1 || version > newest) {
    throw new UnknownVersionError(version, newest);
  }
  return steps
    .slice(version - 1)
    .reduce((current, step, i) => ({ ...step(current), version: version + i + 1 }), document);
}
