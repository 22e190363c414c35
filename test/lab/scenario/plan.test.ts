import { describe, expect, test } from "vitest";
import { type Scenario, startSim } from "../../../src/index.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { folderOf } from "./files.ts";

const plan = {
  version: 1 as const,
  title: "Shop",
  events: {
    order_placed: {
      description: "The customer paid",
      properties: {
        total: { type: "number", minimum: 0, description: "In euros" },
        plan: ["free", "pro"],
        seats: "integer|null",
        at: "date-time",
        items: "string[]",
        is_gift: "boolean",
        code: "string",
      },
    },
    basket_opened: { properties: { items: "string[]", code: "integer" } },
  },
};

interface Page {
  count: number;
  results: { id: string; name: string; description: string | null; property_type: string | null }[];
}

async function definitions(scenario: string | Scenario) {
  await using sim = await startSim({ scenario });
  const read = async (path: string): Promise<Page> => {
    const headers = { authorization: "Bearer phx_sim_default" };
    return (await (await fetch(`${sim.url}/api/projects/@current/${path}`, { headers })).json()) as Page;
  };
  const event = { api_key: sim.apiKey, event: "order_placed", distinct_id: "u", properties: { total: 5, more: "x" } };
  const planned = await read("event_definitions/");
  await fetch(`${sim.url}/i/v0/e/`, { method: "POST", body: JSON.stringify(event) });
  const [events, properties] = [await read("event_definitions/"), await read("property_definitions/?limit=100")];
  const one = await read(`event_definitions/?search=basket`);
  return { planned, events, properties, one };
}

describe("a tracking plan defines its events and properties", () => {
  const folder = folderOf({
    "shop/events.plan.json": `// the plan\n${JSON.stringify(plan)}`,
    "shop/shop.yaml": `plan: ./events.plan.json
event_definitions: [{ name: basket_opened, description: "By hand" }]
property_definitions: [{ name: code, property_type: String }]
`,
    "upper.yaml": "extends: ./shop/shop.yaml\nplan: { events: { refund: {} } }\n",
  });

  test("of a file, relative to the scenario, beside what was captured and what the author wrote", async () => {
    const { planned, events, properties, one } = await definitions(folder.file("shop/shop.yaml"));
    const descriptions = ({ results }: Page) => Object.fromEntries(results.map((it) => [it.name, it.description]));
    expect(descriptions(planned)).toEqual({ order_placed: "The customer paid", basket_opened: "By hand" });
    expect(descriptions(events)).toEqual(descriptions(planned));
    expect(events.count).toBe(2);
    expect(one.results.map(({ name }) => name)).toEqual(["basket_opened"]);
    expect(Object.fromEntries(properties.results.map((it) => [it.name, it.property_type]))).toEqual({
      total: "Numeric",
      plan: "String",
      seats: "Numeric",
      at: "DateTime",
      items: null,
      is_gift: "Boolean",
      code: "String",
      more: "String",
      $ip: "String",
    });
    expect(properties.results.find(({ name }) => name === "total")?.description).toBe("In euros");
  });

  test("of an object, and of layers together", async () => {
    const { planned, properties } = await definitions({ plan });
    expect(planned.results.map(({ name }) => name).sort()).toEqual(["basket_opened", "order_placed"]);
    // planned as a string and as a number
    expect(properties.results.find(({ name }) => name === "code")?.property_type).toBeNull();
    const { scenario, files } = await readScenario(folder.file("upper.yaml"));
    const [project] = scenario?.organizations[0]?.projects ?? [];
    expect(project?.event_definitions?.map(({ name }) => name)).toEqual(["basket_opened", "order_placed", "refund"]);
    expect(files).toContain(folder.file("shop/events.plan.json"));
  });
});

describe("a plan that cannot be read", () => {
  const folder = folderOf({
    "half.json": '{ "events": {\n',
    "list.json": "[]",
    "without.json": "{}",
    "word.json": '{ "events": { "a": "b" } }',
  });
  test.each<[line: string, problem: string]>([
    ["plan: ./none.json", 'it.yaml:1:7 /plan: "./none.json" does not exist'],
    ["plan: .", 'it.yaml:1:7 /plan: "." is a folder; expected a file'],
    ["plan: half.json", "half.json:2:1: expected } at the end of the object"],
    [
      "plan: list.json",
      "list.json:1:1 /plan: expected the path of a tracking plan, or a plan: an object with `events`",
    ],
    ["plan: without.json", "without.json:1:1 /plan/events: is missing; expected an object"],
    ["plan: word.json", 'word.json:1:20 /plan/events/a: expected an object, got "b"'],
    ["plan: 5", "it.yaml:1:7 /plan: expected the path of a tracking plan, or a plan: an object with `events`"],
  ])("%s", async (line, problem) => {
    const { problems } = await readScenario(folder.write("it.yaml", `${line}\n`));
    expect(linesOf(problems, folder.path)).toEqual([expect.stringContaining(problem)]);
  });
});
