import { describe, expect, test } from "vitest";
import { type FreeTrafficOptions, generateTraffic, readScenario } from "../../../src/index.ts";
import { personaProblems } from "../../../src/lab/generate/persona-problems.ts";
import { personas } from "../../../src/lab/generate/personas.ts";
import { Persona } from "../../../src/lab/generate/shapes.ts";
import { readPersona } from "../../../src/lab/scenario/persona-file.ts";
import { folderOf } from "../scenario/files.ts";

const folder = folderOf();

const baker = {
  name: "baker",
  steps: [
    { event: "$pageview" },
    { event: "bread chosen", rate: 0.5, properties: { price: { from: 2, to: 6, decimals: 2 } } },
    { event: "bread bought", rate: 0.9, after: ["1m", "5m"], identify: true },
  ],
};

/** What is wrong with a persona file, without its folder. */
async function mistakesIn(name: string, text: string): Promise<string[]> {
  const file = folder.write(name, text);
  const error: unknown = await readPersona(file).then(
    () => new Error("nothing is wrong"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TypeError);
  return String((error as Error).message)
    .replaceAll(`${folder.path}/`, "")
    .split("\n");
}

test.each(Object.entries(personas))("the built-in %s is a sound persona", async (_, persona) => {
  expect(Persona.parse(persona)).toEqual(persona);
  expect(personaProblems(persona)).toEqual([]);
});

test("a persona in JSON with comments, in YAML, and as an object", async () => {
  const json = folder.write("baker.json", `// a bakery\n${JSON.stringify(baker)}`);
  const yaml = folder.write("baker.yaml", "name: baker\nsteps:\n  - event: $pageview\n");
  expect(await readPersona(json)).toEqual(baker);
  expect(await readPersona(yaml)).toEqual({ name: "baker", steps: [{ event: "$pageview" }] });
  const { length } = [...(await generateTraffic({ persona: baker as Persona, users: 5 }))];
  expect(length).toBeGreaterThan(4);
});

describe("a mistake has its place, and the nearest name", () => {
  test.each<[string, string, string]>([
    [
      "unknown key",
      "name: b\nsteps:\n  - evnt: a\n",
      'b.yaml:3:5 /steps/0/evnt: unknown key "evnt"; did you mean "event"?',
    ],
    ["unknown key at the top", "name: b\nstep: []\n", 'b.yaml:2:1 /step: unknown key "step"; did you mean "steps"?'],
    [
      "a rate in percent",
      "name: b\nsteps:\n  - event: a\n    rate: 40\n",
      "b.yaml:4:11 /steps/0/rate: expected a number of at most 1, got 40",
    ],
    [
      "a time without a unit",
      "name: b\nsteps:\n  - event: a\n    after: 5\n",
      "b.yaml:4:12 /steps/0/after: expected a duration such as 30s, or the shortest and the longest one: [5s, 2m], got 5",
    ],
    [
      "times in the wrong order",
      "name: b\nsteps:\n  - event: a\n    after: [5m, 1m]\n",
      "b.yaml:4:12 /steps/0/after: expected a duration such as 30s, or the shortest and the longest one: [5s, 2m], got a list of 2",
    ],
    [
      "counts in the wrong order",
      "name: b\nsteps:\n  - event: a\n    times: [4, 1]\n",
      "b.yaml:4:12 /steps/0/times: expected a whole number above 0, or the least and the most: [1, 4], got a list of 2",
    ],
    [
      "an unknown way to choose a value",
      "name: b\nsteps:\n  - event: a\n    properties:\n      x: { one_off: [1] }\n",
      'b.yaml:5:12 /steps/0/properties/x/one_off: unknown key "one_off"; did you mean "one_of"?',
    ],
    [
      "a range upside down",
      "name: b\nsteps:\n  - event: a\n    properties:\n      x: { from: 9, to: 1 }\n",
      "b.yaml:5:10 /steps/0/properties/x: expected an object with `from` up to `to`",
    ],
    [
      "23 hours",
      `name: b\nsteps: [{ event: a }]\nhours: [${Array(23).fill(1).join(", ")}]\n`,
      "b.yaml:3:8 /hours: expected 24 numbers, one for each hour from 0 to 23, got a list of 23",
    ],
    [
      "no weight at all",
      "name: b\nsteps: [{ event: a }]\nweekdays: [0, 0, 0, 0, 0, 0, 0]\n",
      "b.yaml:3:11 /weekdays: expected numbers of which one at least is above 0, got a list of 7",
    ],
    [
      "an event that no step has",
      "name: b\nsteps: [{ event: viewed }, { event: bought }]\nfunnel: { steps: [viewed, bouht] }\n",
      'b.yaml:3:27 /funnel/steps/1: no step has the event "bouht"; did you mean "bought"?',
    ],
    [
      "returns after an event that no step has",
      "name: b\nsteps: [{ event: viewed }]\nreturns: { weeks: [0.5], only_after: something }\n",
      'b.yaml:3:38 /returns/only_after: no step has the event "something"; events are viewed',
    ],
    [
      "a property without numbers",
      "name: b\nsteps: [{ event: a, properties: { price: 5, kind: x } }]\nrevenue: { event: a, property: prize }\n",
      'b.yaml:3:32 /revenue/property: the event "a" has no property "prize" with a number; did you mean "price"?',
    ],
    [
      "a person that is never identified",
      "name: b\nsteps: [{ event: a }]\nperson: { plan: free }\n",
      "b.yaml:3:9 /person: has no effect: no step identifies the user; add `identify: true` to a step",
    ],
    ["no name", "steps: [{ event: a }]\n", "b.yaml:1:1 /name: is missing; expected a string"],
    [
      "not YAML",
      "name: [\n",
      "b.yaml:2:1: this is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
  ])("%s", async (_, text, line) => {
    expect((await mistakesIn("b.yaml", text)).at(-1)).toBe(line);
  });

  test("all mistakes of a file are reported", async () => {
    expect(await mistakesIn("c.json", '{\n  "name": "B",\n  "steps": []\n}')).toEqual([
      'c.json:2:11 /name: expected lower-case letters, digits, `-` and `_`, a letter first, got "B"',
      "c.json:3:12 /steps: expected at least one entry, got an empty list",
    ]);
  });

  test("a file that does not exist", async () => {
    await expect(readPersona(folder.file("none.yaml"))).rejects.toThrow(
      /none\.yaml: does not exist; built-in personas are shopper, saas, reader$/,
    );
  });

  test("an object", async () => {
    const persona = { ...baker, steps: [{ event: "a", rat: 1 }] };
    await expect(generateTraffic({ persona: persona as unknown as Persona })).rejects.toThrow(
      'persona /steps/0/rat: unknown key "rat"; did you mean "rate"?',
    );
  });

  test("in a scenario", async () => {
    const file = folder.write(
      "world.yaml",
      "traffic:\n  - persona: shoper\n  - persona:\n      name: b\n      steps: [{ event: a }]\n      retention: { event: x }\n  - { users: 0, until: soon }\n",
    );
    const { problems } = await readScenario(file);
    expect(problems.map(({ line, column, pointer, message, hint }) => [line, column, pointer, message, hint])).toEqual([
      [2, 14, "/traffic/0/persona", 'expected "shopper", "saas" or "reader", got "shoper"', 'did you mean "shopper"?'],
      [7, 14, "/traffic/2/users", "expected a number of at least 1, got 0", null],
      [7, 24, "/traffic/2/until", 'expected a time from 1970 to 9999, such as 2025-06-01T12:00:00Z, got "soon"', null],
    ]);
    const rest = folder.write(
      "rest.yaml",
      "traffic:\n  - persona:\n      name: b\n      steps: [{ event: a }]\n      retention: { event: x }\n",
    );
    expect((await readScenario(rest)).problems).toMatchObject([
      { line: 5, pointer: "/traffic/0/persona/retention/event", message: 'no step has the event "x"' },
    ]);
  });
});

describe("options", () => {
  test.each<[object, string]>([
    [{ users: 0 }, "users: expected a number of at least 1, got 0"],
    [{ days: 1.5 }, "days: expected a whole number, got 1.5"],
    [{ persona: "shoper" }, 'persona: there is no persona "shoper"; did you mean shopper?'],
    [{ persona: "cat" }, 'persona: there is no persona "cat"; personas are shopper, saas, reader'],
    [{ until: "soon" }, 'until: expected a time from 1970 to 9999, such as 2025-06-01T12:00:00Z, got "soon"'],
    [{ timeZone: "Europe/Berln" }, 'the time zone "Europe/Berln" does not exist; use a name such as Europe/Berlin'],
    [{ until: "1970-01-05" }, "the 90 days until 1970-01-05T00:00:00.000Z begin before 1970"],
    [{ user: 5 }, 'user: unknown key "user"; did you mean users?'],
  ])("%j", async (options, message) => {
    await expect(generateTraffic(options as FreeTrafficOptions)).rejects.toThrow(new TypeError(message));
  });
});
