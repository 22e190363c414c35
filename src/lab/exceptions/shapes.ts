import { z } from "zod";
import { OfProject } from "../../state/journal/query-shapes.ts";

export const GroupsQuery = z.strictObject({
  project: OfProject.optional(),
  id: z.string().max(64).optional().describe("Only this group"),
});

const ExceptionGroup = z
  .strictObject({
    id: z.string().describe("For the filter `exception:ID`"),
    fingerprint: z
      .string()
      .nullable()
      .describe("$exception_fingerprint as sent; null: the sim groups by types, messages and the app's frames"),
    type: z.string().describe("Of the last one"),
    message: z.string().describe("Of the last one"),
    handled: z.boolean().nullable(),
    at: z.string().nullable().describe("The app's newest frame of the last one"),
    count: z.int(),
    persons: z.int().describe("Persons, or distinct ids without a person"),
    persons_complete: z.boolean().describe("False if there are more than the 1,000 persons that are counted"),
    first: z.int().describe("Seq of the first one"),
    first_at: z.iso.datetime(),
    last: z.int().describe("Seq of the last one"),
    last_at: z.iso.datetime(),
  })
  .meta({ title: "ExceptionGroup" });
export type ExceptionGroup = z.infer<typeof ExceptionGroup>;

export const ExceptionGroups = z
  .strictObject({
    complete: z.boolean().describe("False if a part is not counted yet, or can no longer be read: there may be more"),
    counting: z.boolean().describe("True if a part is not counted yet; the next call continues"),
    groups: z.array(ExceptionGroup).describe("The latest first, at most 500"),
    others: z.int().describe("Exceptions of further groups"),
  })
  .meta({ title: "ExceptionGroups" });
export type ExceptionGroups = z.infer<typeof ExceptionGroups>;

const place = z.int().min(0).max(100_000);

export const SourceQuery = z.strictObject({
  cause: place.describe("Index in $exception_list"),
  frame: place.describe("Index in the cause's frames, as sent"),
});

export const FrameSource = z
  .strictObject({
    why: z.string().nullable().describe("Why there are no lines; null if there are"),
    path: z.string().nullable().describe("The file, below the sim's working directory"),
    line: z.int().nullable(),
    column: z.int().nullable().describe("From 1"),
    map: z.string().nullable().describe("The source map that led to the file"),
    lines: z.array(z.strictObject({ n: z.int(), text: z.string() })),
    modified_at: z.iso.datetime().nullable(),
    changed: z
      .boolean()
      .nullable()
      .describe("True if the file changed after the event; null: not known, as the sim's clock is not the machine's"),
    note: z.string().nullable().describe("Why the lines may be others"),
  })
  .meta({ title: "FrameSource" });
export type FrameSource = z.infer<typeof FrameSource>;
