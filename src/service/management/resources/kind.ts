import type { z } from "zod";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import type { ListFilter } from "../../api-frame/lists.ts";
import type { Changing, ResourceRequest } from "../../api-frame/row.ts";
import type { Captured } from "../definitions/captured.ts";

export interface Resources {
  /** The stored documents of a kind, also deleted ones. @param owner Number of a project, or id of an organization */
  stored(kind: string, owner: number | string): readonly StoredResource[];
  captured(project: number): Promise<Captured>;
}

type Loaded = readonly StoredResource[] | Promise<readonly StoredResource[]>;

/** What the hooks of a kind get: `before` is the document as it was, absent for a new one. */
export interface Writing extends Changing {
  /** Absent for a new document with a number. */
  readonly key?: number | string;
  /** The fields that the client sent, as their shapes read them. */
  readonly body: JsonObject;
  readonly loaded: readonly StoredResource[];
  readonly before?: StoredResource;
}

/** A time, or the caller; the last ones are renewed by each change. */
export type Stamp =
  | "created_at"
  | "created_by"
  | "joined_at"
  | "updated_at"
  | "updated_by"
  | "last_modified_at"
  | "last_modified_by";

type Method = "list" | "create" | "read" | "change" | "remove";

/** A field of a kind, in all its forms. One without shapes is only stored. */
interface ResourceField {
  /** Its shape in requests; without one, clients cannot write it. */
  readonly write?: z.ZodType;
  readonly required?: true;
  /** Its value in new documents, and in those of a scenario without it. */
  readonly blank?: Json;
  /** Its shape in responses, if it differs; false: it is not shown. */
  readonly show?: z.ZodType | false;
  /** Its shape in scenarios, if it differs. */
  readonly author?: z.ZodType;
}

/** A kind of documents that clients manage: a row of a table. All hooks are optional. */
export interface ResourceRow {
  /** Plural, as the path below the project or organization names it; also in the world and in scenario files. */
  readonly kind: string;
  /** For summaries: `alert`. */
  readonly noun: string;
  /** Nothing but these endpoints reads the documents: the sim has no alerts, no roles … */
  readonly isOnlyStored: boolean;
  /** What bodies have beyond `fields` is kept as sent. */
  readonly isLoose?: true;
  readonly of: "project" | "organization";
  /** The object of the scopes: `alert:read`, `alert:write`. */
  readonly scope: string;
  /** Only admins of the organization may write. */
  readonly byAdmins?: true;
  /** The last part of the path (default: the kind). */
  readonly path?: string;
  /** What paths name a document by (default: a UUID). */
  readonly key?: "number" | "letters" | "name";
  /** What the documents are inside of; the parameter is a field of theirs, too. */
  readonly parent?: { readonly path: string; readonly param: string; readonly kind?: string };
  /** In the order in which the service checks what clients write. */
  readonly fields: Readonly<Record<string, ResourceField>>;
  /** Times and author that are kept. */
  readonly stamps?: readonly Stamp[];
  /** The methods that the service has (default: all). */
  readonly methods?: readonly Method[];
  /**
   * With "patch" and "restore" documents are deleted by PATCH with `deleted`, and DELETE is refused; a deleted document
   * is found by any request about it ("always"), by PATCH only, or only by the PATCH that restores it.
   */
  readonly deletion: "hard" | "always" | "patch" | "restore";
  /** Results on a page without `?limit=`; null: the list has no pages (default: 100). */
  readonly limit?: number | null;
  readonly filters?: readonly ListFilter<StoredResource>[];
  /** Further parameters of the list, for the docs: `narrow` reads them. */
  readonly query?: z.ZodRawShape;
  /** The order of the list (default: the last created first). */
  compare?(a: StoredResource, b: StoredResource): number;
  /** The documents that clients see, where they are not just the stored ones. */
  load?(request: ResourceRequest, desk: ResourceDesk, resources: Resources): Loaded;
  /** Narrows the list further, with what the call asks for. @throws SimError */
  narrow?(
    documents: readonly StoredResource[],
    request: ResourceRequest,
    desk: ResourceDesk,
  ): readonly StoredResource[];
  /** Checks and completes the fields of a document that is made or changed. @throws SimError */
  prepare?(fields: JsonObject, writing: Writing): JsonObject;
  /** Fields as clients see them, from the stored ones. */
  show?(fields: JsonObject, document: StoredResource, desk: ResourceDesk): JsonObject;
  /** The field that identifies a document of a scenario, next to its id (default: name). */
  readonly nameField?: string;
  /** Called before a document is removed or marked as deleted. @throws SimError */
  beforeRemoval?(document: StoredResource, changing: Changing): void;
  /** The fields of what stays of a removed document, marked as deleted; undefined if nothing does. */
  remains?(document: StoredResource): JsonObject | undefined;
}

/** A row with what follows from its fields. */
export interface ResourceKind extends ResourceRow {
  /** Shapes of the fields that clients may write; optional ones are. */
  readonly writable: z.ZodRawShape;
  readonly blanks: JsonObject;
}

export function resourceKind(row: ResourceRow): ResourceKind {
  const fields = Object.entries(row.fields);
  const writable = fields.flatMap(([name, { write, required }]) =>
    write ? [[name, required ? write : write.optional()]] : [],
  );
  const blanks = fields.flatMap(([name, { blank }]) => (blank === undefined ? [] : [[name, blank]]));
  return { ...row, writable: Object.fromEntries(writable), blanks: Object.fromEntries(blanks) };
}
