import { z } from "zod";
import type { Json } from "../../kernel/json.ts";
import { BatchExport } from "../../model/schemas/batch-export.ts";
import { boolean, choice, datetime, dictionary, list, text } from "../fields.ts";
import { checkConfig } from "./destination-rules.ts";
import { destinations } from "./destinations.ts";
import { readHogqlQuery } from "./hogql-query.ts";

/** A destination whose `config` is what its type asks for. */
const destination = (isPartial: boolean) =>
  z.object({ type: z.enum([...destinations.keys()]), config: dictionary() }).transform((value, context) => {
    const checked = checkConfig(value, isPartial);
    if (checked.problem === undefined) return { type: value.type, config: checked.config };
    const params = { detail: checked.problem };
    context.addIssue({ code: "custom", path: ["non_field_errors"], params });
    return z.NEVER;
  });

/** Any JSON value, which is looked at elsewhere. */
const anything = () => z.custom<Json>();

/** An empty model is the default one; `sessions` is known, but nobody may have it. */
const model = () =>
  z.preprocess((it) => (it === null || it === "" ? "events" : it), choice(["events", "persons", "sessions"]));

/** A query, read; null changes nothing, because the contract's answers have it where there is none. */
const hogqlQuery = () =>
  anything()
    .transform((value, context) => {
      if (value === null) return null;
      const read = readHogqlQuery(typeof value === "string" ? value : "");
      if (read.problem === undefined) return read.schema;
      context.addIssue({ code: "custom", params: { detail: read.problem } });
      return z.NEVER;
    })
    .meta({ type: ["string", "null"] });

/** What may be written, in the order in which the service looks at it. */
const fields = (isPartial: boolean) => ({
  name: text(),
  model: model().optional(),
  destination: destination(isPartial),
  interval: BatchExport.shape.interval,
  paused: boolean().optional(),
  last_paused_at: datetime().nullable().optional(),
  start_at: datetime().nullable().optional(),
  end_at: datetime().nullable().optional(),
  hogql_query: hogqlQuery().optional(),
  filters: list(z.json()).nullable().optional(),
});

export const NewExport = z.object(fields(false)).meta({ title: "BatchExportCreate" });
export const ExportChanges = z.object(fields(true)).partial().meta({ title: "BatchExportUpdate" });

export type WrittenExport = z.infer<typeof NewExport>;

const bound = () =>
  anything()
    .optional()
    .meta({ type: ["string", "null"], format: "date-time" });

/** Bounds of a backfill are looked at one by one (backfill-range.ts). */
export const BackfillBody = z
  .object({ start_at: bound(), end_at: bound() })
  .meta({ title: "BatchExportBackfillCreate" });
export type BackfillBody = z.infer<typeof BackfillBody>;

export const UnpauseBody = z.object({ backfill: boolean().optional() }).meta({ title: "BatchExportUnpause" });
