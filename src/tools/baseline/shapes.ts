import { z } from "zod";
import { recordOf } from "../../kernel/http/record-shape.ts";

const Count = z.int().min(1);
const Types = z.string().min(1);

export const BaselineHead = z.strictObject({
  phx_sim_baseline: z.literal(1).describe("Version of the format"),
  sdk: z.literal(true).optional().describe("It also has the SDKs' own events and properties"),
  order: z.literal(false).optional().describe("It has no orders"),
});

/** Each further line: an event, an identity call, a flag or an order of a test; only `test`: it sent nothing. */
export const BaselineLine = z
  .strictObject({
    test: z.string(),
    event: z.string().optional(),
    identity: z.string().optional(),
    flag: z.string().optional(),
    order: z.array(z.string()).min(1).optional(),
    count: Count.optional(),
    properties: recordOf(Types).optional(),
  })
  .superRefine((line, context) => {
    const { event, identity, flag, order, count, properties } = line;
    const named = [event, identity, flag, order].filter((it) => it !== undefined).length;
    const isCounted = event !== undefined || identity !== undefined;
    const complain = (message: string) => context.addIssue({ code: "custom", message });
    if (named > 1) complain("an object with one of event, identity, flag and order");
    else if (isCounted && count === undefined) complain("an object with a count");
    else if (!isCounted && (count ?? properties) !== undefined) complain("an object with an event or an identity call");
  });
export type BaselineLine = z.infer<typeof BaselineLine>;

const BaselineChange = z
  .strictObject({
    what: z.enum(["test", "event", "identity", "count", "property", "flag", "order"]),
    name: z.string().describe("The event, the identity call (`identify()`), or the flag; empty for others"),
    property: z.string().nullable(),
    before: z.unknown().describe("null: there was none"),
    after: z.unknown().describe("null: there is none"),
    tests: z.array(z.string()).describe("The tests with this change; an empty name: outside of tests"),
    text: z.string().describe("The change in words"),
  })
  .meta({ title: "BaselineChange" });
export type BaselineChange = z.infer<typeof BaselineChange>;

/** What differs between two baselines. Equal changes of several tests are one. */
export const BaselineDiff = z
  .strictObject({
    added: z.array(BaselineChange),
    removed: z.array(BaselineChange),
    changed: z.array(BaselineChange),
    compared: z.int().describe("Number of tests in both"),
    not_run: z.array(z.string()).describe("Tests of the first one that are not in the second"),
  })
  .meta({ title: "BaselineDiff" });
export type BaselineDiff = z.infer<typeof BaselineDiff>;
