import { z } from "zod";
import { isObject } from "../../kernel/base/json.ts";
import { safeParse } from "../../kernel/base/safe-parse.ts";
import { jsonSchemaOf } from "../../kernel/http/row.ts";

/** Names of tests may be long. */
const longestName = 1_000;

const FlagValue = z.union([z.boolean(), z.string().min(1)]);
type FlagValues = Record<string, z.infer<typeof FlagValue>>;

/** Values by flag key. z.record would lose a flag called `__proto__`. */
const FlagValues = z
  .custom<FlagValues>(isObject, "an object")
  .superRefine((flags, context) => {
    for (const [key, value] of Object.entries(flags)) {
      if (!safeParse(FlagValue, value).success)
        context.addIssue({ code: "custom", message: "true, false or the key of a variant", path: [key] });
    }
  })
  .meta(jsonSchemaOf(z.record(z.string(), FlagValue), "input"));

export const ProjectOrder = z.strictObject({
  name: z.string().max(longestName).nullish().describe("Shown in reports, e.g. the test's name; need not be unique"),
  like: z
    .int()
    .min(1)
    .nullish()
    .describe(
      "Id of the project whose settings, flags, cohorts (with the stored members of static ones), group types, surveys and prompts are copied (default: the first project); null: none. Events and other persons are not copied",
    ),
  owner: z
    .string()
    .max(100)
    .nullish()
    .describe(
      "Names the process that runs the test: a later test of it fails if its SDK goes on using this project's key",
    ),
  settings: z
    .record(z.string(), z.json())
    .nullish()
    .describe(
      "Settings over the copied ones, as the service's API has them: `anonymize_ips`, `cookieless_server_hash_mode`, …",
    ),
  flags: FlagValues.nullish().describe("Flag key → true, false or a variant, for all users"),
});
export type ProjectOrder = z.infer<typeof ProjectOrder>;

const ProjectKeys = z.strictObject({
  id: z.int(),
  name: z.string(),
  api_key: z.string().describe("Public key, `phc_…`"),
  secret_api_key: z.string().describe("For flag definitions and remote config, `phs_…`"),
});

export const TestProject = ProjectKeys.extend({
  personal_api_key: z.string().describe("Allows everything in this project and nothing elsewhere, `phx_…`"),
  host: z.string().describe("The host for SDKs"),
  env: z
    .record(z.string(), z.string())
    .describe("Environment variables that point an app at the project, for all frameworks"),
}).meta({ title: "TestProject" });
export type TestProject = z.infer<typeof TestProject>;

export const ShownProject = ProjectKeys.extend({
  personal_api_key: z.string().nullable().describe("A key that is limited to this project"),
  ephemeral: z
    .boolean()
    .describe("True if it was made for a test: it can be deleted here, and a full reset removes it"),
  adopted: z.boolean().describe("True if it was made from an unknown key (--adopt-tokens)"),
  created_at: z.iso.datetime(),
}).meta({ title: "ShownProject" });
