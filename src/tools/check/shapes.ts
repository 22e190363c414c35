import { z } from "zod";

export const checkAreas = {
  app: "the app starts and its pages load",
  sdk: "the SDK loads once, is initialized and captures",
  key: "kind of the project key",
  host: "host of the service",
  proxy: "the app's reverse proxy",
  pageviews: "one $pageview for each page",
  identity: "persons have real, lasting ids",
  flags: "feature flags arrive before they are read",
  recordings: "session recordings arrive",
  events: "names, sizes and outcomes of events",
  privacy: "personal data in events",
  server: "events of the app's server",
} as const;

export type CheckArea = keyof typeof checkAreas;

const Area = z.enum(Object.keys(checkAreas) as [CheckArea, ...CheckArea[]]);
const Severity = z.enum(["error", "warning", "info"]);

const Evidence = z
  .strictObject({
    text: z.string(),
    url: z.string().optional().describe("The page"),
    request: z.int().optional().describe("Number of the request at the sim"),
    event: z.int().optional().describe("Number of the event at the sim"),
  })
  .meta({ title: "CheckEvidence" });

export const CheckFinding = z
  .strictObject({
    code: z.string().describe("docs/check.md lists them; those of docs/reference/lint.md, too"),
    area: Area,
    severity: Severity,
    sentence: z.string().describe("The mistake"),
    fix: z.string(),
    count: z.int().describe("Number of observations"),
    evidence: z.array(Evidence).describe("The first five of them"),
  })
  .meta({ title: "CheckFinding" });
export type CheckFinding = z.infer<typeof CheckFinding>;

/** The result of `phx-sim check`. */
export const CheckReport = z
  .strictObject({
    schema: z.literal(1).describe("Version of this shape"),
    verdict: z.enum(["passed", "failed"]).describe("failed: errors, or what --fail-on names"),
    command: z.string().nullable().describe("The command that started the app"),
    browser: z.string().nullable().describe("null: no page was opened"),
    sdks: z.array(z.strictObject({ name: z.string(), version: z.string().nullable(), events: z.int() })),
    pages: z.array(
      z.strictObject({
        url: z.string(),
        how: z
          .enum(["load", "history", "reload", "click"])
          .describe("history: the app changed its address without a new document"),
        status: z.int().nullable(),
        title: z.string(),
        events: z.array(z.string()).describe("Names of the events, in order"),
      }),
    ),
    counts: z.strictObject({
      errors: z.int(),
      warnings: z.int(),
      infos: z.int(),
      events: z.int().describe("Events that were kept"),
      dropped: z.int(),
      rejected: z.int().describe("Requests that were rejected"),
    }),
    findings: z.array(CheckFinding).describe("Errors first"),
    checked: z.array(z.strictObject({ area: Area, what: z.string(), result: z.enum(["ok", "error", "warning"]) })),
    unchecked: z
      .array(z.strictObject({ area: Area, reason: z.string(), how: z.string().describe("How to check it as well") }))
      .describe("What could not be checked"),
  })
  .meta({ title: "CheckReport" });
export type CheckReport = z.infer<typeof CheckReport>;
