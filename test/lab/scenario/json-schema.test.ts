import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { isObject, type Json, type JsonObject } from "../../../src/kernel/base/json.ts";
import { scenarioJsonSchema, scenarioJsonSchemaText } from "../../../src/lab/scenario/json-schema.ts";
import { parseJson, parseYaml } from "../../../src/lab/scenario/parse.ts";

import { shippedFolder, shippedScenarios } from "../../../src/lab/scenario/shipped.ts";
import { plainValue } from "../../../src/lab/scenario/tree.ts";
import { fullExample } from "./full-example.ts";

const file = join(shippedFolder(), "scenario.schema.json");
if (process.env.UPDATE_SCHEMA === "1") writeFileSync(file, scenarioJsonSchemaText());
const published: JsonObject = JSON.parse(readFileSync(file, "utf8"));

test("the published schema is the checker's: UPDATE_SCHEMA=1 writes it", () => {
  expect(published).toEqual(scenarioJsonSchema());
});

describe("editors", () => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(published);

  async function read(path: string): Promise<Json | undefined> {
    const reader = path.endsWith(".yaml") ? parseYaml : parseJson;
    const { tree } = await reader({ file: path, text: readFileSync(path, "utf8") });
    return tree && plainValue(tree);
  }

  test.each([...shippedScenarios()])("find nothing wrong with %s", async (_, path) => {
    validate(await read(path));
    expect(validate.errors ?? []).toEqual([]);
  });

  const shop = (part: object): object => ({
    version: 1,
    organizations: [{ name: "O", projects: [{ name: "P", api_key: "phc_p", ...part }] }],
    personal_api_keys: [{ key: "phx_p", scopes: [] }],
  });

  test.each<[string, object]>([
    ["everything that a scenario can say", fullExample()],
    ["nothing", {}],
    ["only flags", { flags: { beta: true, half: { rollout: 50 } } }],
    [
      "a layer over the only project",
      { extends: "default", flags: { "beta-feature": null }, persons: [{ distinct_ids: ["a"] }] },
    ],
    ["a layer with next to nothing", { extends: "shop", users: [{ first_name: "Ann" }] }],
    [
      "a layer that takes things away",
      { extends: [], organizations: [{ projects: [{ flags: { a: null } }] }], geoip: null },
    ],
  ])("accept %s", (_, value) => {
    validate(value);
    expect(validate.errors ?? []).toEqual([]);
  });

  test.each<[string, object]>([
    ["too much rollout at the top", { flags: { a: { rollout: 101 } } }],
    ["what identifies a project, at the top", { name: "App" }],
    ["another version", { ...shop({}), version: 2 }],
    ["an unknown key", shop({ colour: 1 })],
    ["a project without a key", shop({ api_key: undefined })],
    ["too much rollout", shop({ flags: { a: { rollout: 101 } } })],
    ["null where nothing is below", shop({ flags: null })],
    ["an unknown key of a layer", { extends: "shop", colour: 1 }],
    ["a wrong value of a layer", { extends: "shop", users: 5 }],
  ])("complain of %s", (_, value) => {
    expect(validate(JSON.parse(JSON.stringify(value)))).toBe(false);
  });
});

/** Keys without a description, below and at the place. */
function undescribed(schema: Json | undefined, at = ""): string[] {
  if (!isObject(schema)) return [];
  const { properties, items, additionalProperties, anyOf } = schema;
  const keys = Object.entries(isObject(properties) ? properties : {});
  return [
    ...keys.flatMap(([key, it]) => (isObject(it) && (it.description ?? it.not) === undefined ? [`${at}/${key}`] : [])),
    ...keys.flatMap(([key, it]) => undescribed(it, `${at}/${key}`)),
    ...undescribed(items, `${at}/*`),
    ...undescribed(additionalProperties, `${at}/*`),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((it) => undescribed(it, at)) : []),
  ];
}

test("every key is described, but for the service's own JSON", () => {
  const { definitions } = published;
  const scenario = isObject(definitions) ? definitions.scenario : undefined;
  const bare = undescribed(scenario);
  // The service's JSON of a flag is the one place without descriptions, so the search reaches that deep.
  expect(bare.some((at) => at.includes("/flags/*/filters/"))).toBe(true);
  expect(bare.filter((at) => !at.includes("/flags/*/filters/"))).toEqual([]);
});
