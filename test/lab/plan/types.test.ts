import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { definePlan, planFrom, planTypes } from "../../../src/plan.ts";

const root = join(import.meta.dirname, "../../..");
// Below node_modules, so that packages are found and no other tool sees it.
const folder = join(root, "node_modules/.cache", `phx-plan-types-${process.pid}`);
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = planFrom({
  version: 1,
  $defs: { tier: ["free", "pro"], tree: { type: "object", properties: { below: { $ref: "#/$defs/tree" } } } },
  events: {
    signed_up: {
      description: "An account was made.\nIt ends */ here.",
      properties: {
        plan: { $ref: "#/$defs/tier", description: "What was chosen" },
        seats: "integer|null",
        at: "date-time",
        "first name": "string",
        tags: "string[]",
        either: "uuid|number",
        forms: { oneOf: [{ const: 1 }, { enum: ["x", null, true] }] },
        address: { type: "object", properties: { city: "string" }, required: ["city"], additionalProperties: false },
        tree: { $ref: "#/$defs/tree" },
        pair: { type: "array", prefixItems: ["string", "number"] },
        anything: {},
        never: false,
      },
      required: ["plan", "seats"],
      additionalProperties: false,
    },
    'odd "name"\u2028': { required: ["there"] },
    opened: {},
    closed: { additionalProperties: false },
  },
});

test("names are quoted, what is said of them stands above", () => {
  const entry = { description: "A.", properties: { "b c": { type: "string", description: "B." } } };
  expect(planTypes(planFrom({ version: 1, events: { a: entry } }))).toContain(
    [
      "  /** A. */",
      '  "a": {',
      "    /** B. */",
      '    "b c"?: string;',
      "    [property: string]: unknown;",
      "  };",
    ].join("\n"),
  );
});

describe("TypeScript takes it", () => {
  const use = `
import posthog from "posthog-js";
import { PostHog } from "posthog-node";
import type { Capture, CapturedEvent, EventName, Events } from "./events.ts";

const capture: Capture = (event, properties) => { posthog.capture(event, properties); };
const direct: Capture = posthog.capture.bind(posthog);
direct("closed", {});
const server = (node: PostHog, distinctId: string, it: CapturedEvent) => node.capture({ distinctId, ...it });

capture("signed_up", { plan: "pro", seats: null, $set: { a: 1 } });
capture("signed_up", { plan: "free", seats: 3, "first name": "A", tags: ["x"], either: 1, forms: null, address: { city: "B" } });
capture("opened", { whatever: 1 });
capture("odd \\"name\\"\\u2028", { there: 1 });
// @ts-expect-error there is no such event
capture("signd_up", {});
// @ts-expect-error a required property is missing
capture("signed_up", { plan: "pro" });
// @ts-expect-error not an allowed value
capture("signed_up", { plan: "Pro", seats: 1 });
// @ts-expect-error not a property of it
capture("signed_up", { plan: "pro", seats: 1, seets: 1 });
// @ts-expect-error of the wrong type
capture("signed_up", { plan: "pro", seats: "1" });
// @ts-expect-error never
capture("signed_up", { plan: "pro", seats: 1, never: 1 });
// @ts-expect-error required without being described
capture("odd \\"name\\"\\u2028", {});

function amount(it: CapturedEvent): number | null {
  return it.event === "signed_up" ? it.properties.seats : null;
}
const name: EventName = "opened";
const tier: Events["signed_up"]["plan"] = "free";
export { amount, name, server, tier };
`;

  test("and so a typed capture catches what is not planned", () => {
    writeFileSync(join(folder, "events.ts"), planTypes(plan));
    writeFileSync(join(folder, "use.ts"), use);
    const options = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: "es2022",
        module: "esnext",
        moduleResolution: "bundler",
        lib: ["es2023", "dom"],
        types: [],
        skipLibCheck: true,
        allowImportingTsExtensions: true,
      },
      include: ["."],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
  });
});

test("validators that know their JSON Schema have types, others are open", () => {
  const standard = { version: 1 as const, vendor: "ours", validate: (value: unknown) => ({ value }) };
  const source = planTypes(definePlan({ a: z.object({ n: z.number() }), b: { "~standard": standard } }));
  expect(source).toContain('  "a": {\n    "n": number;\n');
  expect(source).toContain('  "b": { [property: string]: unknown };\n');
});
