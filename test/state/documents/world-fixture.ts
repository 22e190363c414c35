import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { blankProject, blankUser } from "../../../src/state/documents/blank.ts";
import { dashboardKind, tileKind } from "../../../src/state/documents/schemas/dashboard.ts";
import { readWorldFile } from "../../../src/state/documents/store/world-file.ts";
import {
  type Dashboard,
  emptyWorld,
  type StoredProject,
  type User,
  type World,
} from "../../../src/state/documents/world.ts";
import { openWorld, type WorldOptions, type WorldStore } from "../../../src/state/documents/world-store.ts";

const now = "2026-01-02T03:04:05Z";

export const newFolder = (): string => mkdtempSync(join(tmpdir(), "phx-world-"));
export const fileOf = (folder: string): string => join(folder, "world.json");
export const changesOf = (folder: string): string => join(folder, "world.changes.ndjson");

/** A folder whose world.json is as given. */
export function folderWith(text: string): string {
  const folder = newFolder();
  writeFileSync(fileOf(folder), text);
  return folder;
}

export const read = (folder: string): JsonObject => JSON.parse(readFileSync(fileOf(folder), "utf8")) as JsonObject;

/** True if phx-sim wrote world.json and it was not changed since. */
export const isSealed = (folder: string): boolean => readWorldFile(fileOf(folder))?.isSealed === true;

/** The lines of the changes file. */
export const changesIn = (folder: string): string[] =>
  existsSync(changesOf(folder)) ? readFileSync(changesOf(folder), "utf8").split("\n").slice(0, -1) : [];

export const project = (id: number, name: string): StoredProject =>
  blankProject({ id, uuid: `uuid-${id}`, organization: "o", name, api_key: `phc_${name}` }, now);

export const user = (id: number, first_name = `user ${id}`): User =>
  blankUser({ id, uuid: `uuid-${id}`, email: `${id}@example.com`, first_name }, now);

/** A dashboard with a tile for each number; even ones hold a text of ten times the number. */
export const dashboard = (id: number, tiles: number[] = [], name = `dashboard ${id}`): Dashboard =>
  dashboardKind.blank(
    {
      id,
      project: 1,
      name,
      tiles: tiles.map((tile) =>
        tileKind.blank({
          id: tile,
          ...(tile % 2 === 0 && {
            text: { id: tile * 10, body: "", created_by: 1, last_modified_by: 1, last_modified_at: now },
          }),
        }),
      ),
    },
    now,
  );

export const seedWorld = (): World => ({ ...emptyWorld(), projects: [project(1, "one"), project(2, "two")] });

const opened: WorldStore[] = [];

export async function open(options: Partial<WorldOptions> = {}): Promise<WorldStore> {
  const worlds = await openWorld({ seedWorld, ...options });
  opened.push(worlds);
  return worlds;
}

/** The stores that a test opened and did not close. */
export const openedStores = (): WorldStore[] => opened.splice(0);

/** A plain copy of all that a store holds. */
export const contentOf = (worlds: WorldStore): World => JSON.parse(JSON.stringify(worlds.current));
