import { z } from "zod";

const Place = { file: z.string(), line: z.int(), column: z.int() };

const counts = {
  calls: z.int().describe("Call sites with a known name"),
  fired: z.int().describe("Of these, those whose event was kept, or whose flag was used"),
  computed: z.int().describe("Call sites with a computed name, which do not count"),
};

export const CallCoverage = z
  .strictObject({
    schema_version: z.literal(1),
    percent: z.int().describe("`covered` of `total`, rounded down"),
    covered: z.int(),
    total: z.int().describe("Call sites with a known name"),
    events: z.strictObject(counts),
    identity: z.strictObject(counts),
    exceptions: z.strictObject(counts),
    flags: z.strictObject({
      ...counts,
      read: z.int().describe("Flags that the app used"),
      both: z.int().describe("Flags of which two values or more were used"),
      keys: z.array(z.strictObject({ key: z.string(), read: z.boolean(), values: z.array(z.string()) })),
    }),
    sites: z.array(
      z.strictObject({
        kind: z.enum(["event", "flag", "identity", "exception"]),
        method: z.string(),
        name: z.string().nullable().describe("null: computed"),
        ...Place,
        state: z
          .enum(["fired", "never", "served", "computed"])
          .describe("`served`: a response had the flag, and no `$feature_flag_called` reported its use"),
        count: z.int(),
      }),
    ),
    without_site: z
      .array(z.strictObject({ event: z.string(), count: z.int() }))
      .describe("Kept events that no call site has, without those of SDKs"),
    problems: z
      .array(z.strictObject({ ...Place, message: z.string() }))
      .describe("What was not read: syntax errors, markup, large files"),
    files: z.int().describe("Number of files that were read"),
  })
  .meta({ title: "CoverageResult" });
export type CallCoverage = z.infer<typeof CallCoverage>;
