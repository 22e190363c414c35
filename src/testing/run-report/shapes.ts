import { z } from "zod";
import { LintFinding } from "../../lab/lint/shapes.ts";
import { Value } from "../../service/flags/shapes.ts";
import { SdkTotal } from "../../state/journal/sdk-shapes.ts";

const Moment = z.iso.datetime();
const leftOut = z.int().describe("Number of further items, which are not listed");

const listOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ items: z.array(item), left_out: leftOut });

const TestCount = z.strictObject({
  project: z.int().nullable().describe("null: only the name is known"),
  name: z.string().describe("Name of the project: of a test's project, the test"),
  count: z.int(),
});

const Tests = listOf(TestCount).describe("The projects in which it occurred; fixtures make one for each test");

export const Mishap = z
  .strictObject({
    code: z.string().describe("The reason: `missing_distinct_id`"),
    what: z.string().describe("Name of the event, method and path of the request, or the place"),
    sentence: z.string().describe("What happened"),
    fix: z.string().describe('What to do; "" if nothing is known'),
    count: z.int(),
    tests: Tests,
  })
  .meta({ title: "Mishap" });
export type Mishap = z.infer<typeof Mishap>;

const mishaps = (total: string) =>
  z.strictObject({
    total: z.int().describe(total),
    items: z.array(Mishap).describe("Equal ones are counted together"),
    left_out: leftOut,
  });

export const RunFailure = z
  .strictObject({
    code: z
      .string()
      .describe(
        "`command_failed`, `command_not_run`, `test_failed`, a rule of --fail-on (`dropped`, `rejected` …), `tape_missed`, `not_written`, or the name of a section",
      ),
    text: z.string().describe("In a few words: `2 events dropped`"),
    count: z.int(),
  })
  .meta({ title: "RunFailure" });
export type RunFailure = z.infer<typeof RunFailure>;

const EventName = z.strictObject({
  event: z.string(),
  kept: z.int(),
  dropped: z.int(),
  first_at: Moment.describe("Arrival of the first one"),
  last_at: Moment,
});

export const TestedProject = z
  .strictObject({
    project: z.int(),
    name: z.string(),
    requests: z.int(),
    kept: z.int(),
    dropped: z.int(),
    rejected: z.int(),
    unmatched: z.int(),
    first_at: Moment,
    last_at: Moment,
  })
  .meta({ title: "TestedProject" });
export type TestedProject = z.infer<typeof TestedProject>;

const FlagRead = z
  .strictObject({
    key: z.string(),
    served: z.int().describe("How often an answer had it, or an SDK evaluated it"),
    called: z.int().describe("How often an app used it, as `$feature_flag_called` reports"),
    values: z
      .array(
        z.strictObject({
          value: Value.nullable().describe("null: an app got no value"),
          served: z.int(),
          called: z.int(),
        }),
      )
      .describe("The most frequent ones first"),
    tests: Tests,
  })
  .meta({ title: "FlagRead" });
export type FlagRead = z.infer<typeof FlagRead>;

const PlanResult = z.strictObject({
  violations: z.int(),
  checked: z.int().describe("Number of checked events"),
  unseen: z.array(z.string()).describe("Planned events that were never captured"),
  items: z.array(Mishap).describe("The code is the kind of violation, `what` the event"),
  left_out: leftOut,
  text: z.string().describe("The result as a report"),
});

const TapeResult = z.strictObject({
  name: z.string(),
  on_miss: z.string().describe("`fail`: requests that are not on it fail the run"),
  requests: z.int(),
  exchanges: z.int(),
  used: z.int(),
  missed: z.int().describe("Requests that it has no answer for"),
  unused: z.int(),
  left_out: z.int().describe("Exchanges that cannot be replayed"),
  advice: z.string().nullable(),
  text: z.string().describe("The result as a report"),
});

/**
 * A further part of the verdict, from an option such as `--baseline`. The terminal, Markdown, JUnit and the report show it
 * without knowing it.
 */
export const VerdictSection = z
  .strictObject({
    name: z.string().describe("A word: `baseline`"),
    title: z.string(),
    failed: z.boolean().describe("True if it fails the run; its name is then the code of a failure"),
    summary: z.string().describe("In one sentence"),
    total: z.int().describe("Number of findings"),
    items: z.array(Mishap),
    left_out: leftOut,
    text: z
      .string()
      .nullable()
      .describe("The findings as lines, which people see in place of the items; null: the items are enough"),
  })
  .meta({ title: "VerdictSection" });
export type VerdictSection = z.infer<typeof VerdictSection>;

const NextStep = z
  .strictObject({
    code: z.string().describe("What it is about: the code of a failure or of a mishap"),
    text: z.string(),
    command: z.string().nullable().describe("A command line that does it, or shows more"),
  })
  .meta({ title: "NextStep" });

/** The result of a run: what `phx-sim exec` found. */
export const RunVerdict = z
  .strictObject({
    schema_version: z.literal(1).describe("Rises when a field is removed or changes its meaning"),
    verdict: z.enum(["passed", "failed"]).describe("`failed` if there is at least one failure"),
    exit_code: z.int().describe("Of `phx-sim exec`"),
    title: z.string().describe("The program that ran, or the test"),
    command: z
      .strictObject({ program: z.string(), exit_code: z.int() })
      .nullable()
      .describe("The command that ran; null for the report of a test. Arguments may be secrets and are left out"),
    version: z.string().describe("Version of phx-sim"),
    started_at: Moment.describe("Time of this machine; times of events are those of the sim's clock"),
    ended_at: Moment.describe("End of the command"),
    fail_on: z.array(z.string()).describe("The rules of --fail-on"),
    failures: z.array(RunFailure).describe("Empty if the run passed"),
    next_steps: z.array(NextStep).describe("What to do, the most important first"),
    events: z
      .strictObject({
        kept: z.int().describe("Also those with warnings"),
        warned: z.int().describe("Of these, those that were changed or are doubtful"),
        dropped: z.int(),
        names: listOf(EventName).describe("The most frequent names first"),
      })
      .describe("Number of events by outcome and by name"),
    requests: z
      .strictObject({
        total: z.int(),
        flags: z.int().describe("Requests for flags"),
        rejected: z.int().describe("Without those that a fault, a script or a tape answered"),
        unmatched: z.int().describe("Requests to paths that do not exist"),
      })
      .describe("Number of requests"),
    tests: listOf(TestedProject).describe("Projects that got requests; those with mishaps first"),
    dropped: mishaps("Number of dropped events").describe("Lost events"),
    rejected: mishaps("Number of rejected requests").describe("Requests that were refused as a whole"),
    unmatched: mishaps("Number of such requests").describe("Requests to paths that do not exist"),
    egress: mishaps("Number of blocked calls").describe("Calls to the real service, with --block-egress"),
    faults: listOf(z.strictObject({ name: z.string(), requests: z.int() })).describe("Faults that affected requests"),
    lint: z
      .strictObject({
        warnings: z.int(),
        hints: z.int(),
        items: z.array(LintFinding.extend({ test: z.string().nullable().describe("Name of its project") })),
        left_out: leftOut,
      })
      .describe("Findings of the linter"),
    plan: PlanResult.nullable().describe("null: there is no tracking plan"),
    sdks: listOf(SdkTotal).describe("SDKs and other clients that sent events or were rejected"),
    flags: listOf(FlagRead).describe("Flags that were read, the most frequent first"),
    tape: TapeResult.nullable().describe("null: no tape answered"),
    sections: z.array(VerdictSection).describe("Results of further options, each in the same form"),
    files: z.array(z.string()).describe("Written files of --report and --junit"),
  })
  .meta({ title: "RunVerdict" });
export type RunVerdict = z.infer<typeof RunVerdict>;
