import { describe, expect, test } from "vitest";
import { readScenario, startSim } from "../../../src/index.ts";
import { shippedList } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { knownScopes } from "../../../src/state/documents/scopes.ts";
import { folderOf } from "./files.ts";

const folder = folderOf();

async function warningsOf(text: string): Promise<string[]> {
  const { problems, warnings } = await readScenario(folder.write("it.yaml", text));
  expect(problems).toEqual([]);
  return linesOf(warnings, folder.path).map((line) => line.replace(/^it\.yaml:/, ""));
}

const keyWith = (...scopes: string[]): string =>
  `personal_api_keys:\n  - { key: phx_a, scopes: ${JSON.stringify(scopes)} }\n`;
const insightWith = (query: object): string => `insights: [{ name: a, query: ${JSON.stringify(query)} }]\n`;

describe("names that may be any text", () => {
  test.each<[string, string, string[]]>([
    ["known scopes", keyWith("*", "dashboard:read", "feature_flag:write", "session_recording:read"), []],
    [
      "the plural of a scope",
      keyWith("dashboards:read"),
      ['2:28 /personal_api_keys/0/scopes/0: there is no scope "dashboards:read"; did you mean "dashboard:read"?'],
    ],
    [
      "another access",
      keyWith("*", "insight:raed"),
      ['2:32 /personal_api_keys/0/scopes/1: there is no scope "insight:raed"; did you mean "insight:read"?'],
    ],
    [
      "no scope at all",
      keyWith("everything"),
      [
        '2:28 /personal_api_keys/0/scopes/0: there is no scope "everything"; a scope is an object with :read or :write, such as dashboard:read, or *',
      ],
    ],
    ["known kinds", insightWith({ kind: "InsightVizNode", source: { kind: "PathsQuery" } }), []],
    [
      "a kind of query",
      insightWith({ kind: "TrendQuery", series: [{ kind: "EventNode", event: "a" }] }),
      [
        '1:38 /insights/0/query/kind: there is no kind of query "TrendQuery"; did you mean "TrendsQuery"?',
        '1:69 /insights/0/query/series/0/kind: there is no kind of query "EventNode"; did you mean "EventsNode"?',
      ],
    ],
    [
      "a kind that is like no other, as a source",
      insightWith({ kind: "InsightVizNode", source: { kind: "Wavelet", series: [{ kind: "Other" }] } }),
      ['1:72 /insights/0/query/source/kind: there is no kind of query "Wavelet"'],
    ],
    [
      "a kind in a template and a cohort",
      "dashboard_templates: [{ template_name: a, tiles: [{ type: INSIGHT, query: { kind: FunnelQuery } }] }]\ncohorts: [{ name: a, query: { kind: HogQlQuery } }]\n",
      [
        '1:83 /dashboard_templates/0/tiles/0/query/kind: there is no kind of query "FunnelQuery"; did you mean "FunnelsQuery"?',
        '2:37 /cohorts/0/query/kind: there is no kind of query "HogQlQuery"; did you mean "HogQLQuery"?',
      ],
    ],
    [
      "a time zone",
      "timezone: Europe/Berlim\n",
      ['1:11 /timezone: there is no time zone "Europe/Berlim"; did you mean "Europe/Berlin"?'],
    ],
    [
      "keys and types of settings and surveys",
      "settings: { anonymize_ip: true, timezone: UTC, quota_limited: [events], other: 1 }\nsurveys: [{ name: a, type: popvr, questions: [{ type: opn, question: a }, { type: link }] }]\n",
      [
        '1:13 /settings/anonymize_ip: the key "anonymize_ip" has no effect; did you mean "anonymize_ips"?',
        '1:33 /settings/timezone: the key "timezone" has no effect here; it belongs in the project, beside `settings`',
        '2:28 /surveys/0/type: there is no type of surveys "popvr"; did you mean "popover"?',
        '2:55 /surveys/0/questions/0/type: there is no type of questions "opn"; did you mean "open"?',
      ],
    ],
    [
      "keys of the service's flags",
      `flags: { f: ${JSON.stringify({
        activ: false,
        filters: {
          payload: {},
          multivariate: { variants: [{ key: "a", nme: "A", rollout_percentage: 100 }] },
          groups: [{ rollout_percentag: 5, properties: [{ key: "p", value: 1, operatr: "gt", type: "person" }] }],
        },
      })} }\n`,
      [
        expect.stringMatching(/\/flags\/f\/activ: the key "activ" has no effect; did you mean "active"\?$/),
        expect.stringMatching(/\/filters\/payload: .* "payloads"\?$/),
        expect.stringMatching(/\/variants\/0\/nme: .* "name"\?$/),
        expect.stringMatching(/\/groups\/0\/rollout_percentag: .* "rollout_percentage"\?$/),
        expect.stringMatching(/\/properties\/0\/operatr: .* "operator"\?$/),
      ],
    ],
    [
      "an operator in the short form of a flag",
      "flags: { f: { person: { age: { gt: 5 }, plan: [a, b] } } }\n",
      [
        "1:30 /flags/f/person/age: matches only persons who have exactly this object; conditions with operators are in the service's form: `filters`",
      ],
    ],
    [
      "a destination",
      "batch_exports: [{ name: a, interval: hour, destination: { type: BigQeury, config: {} } }]\n",
      ['1:65 /batch_exports/0/destination/type: there is no destination "BigQeury"; did you mean "BigQuery"?'],
    ],
  ])("%s", async (_, text, expected) => {
    expect(await warningsOf(text)).toEqual(expected);
  });

  test("shipped scenarios have no warning", async () => {
    for (const { file } of await shippedList()) {
      const { warnings } = await readScenario(file);
      expect(warnings.filter(({ message }) => /^there is no (scope|kind|time zone|destination)/.test(message))).toEqual(
        [],
      );
    }
  });

  test("every scope of an endpoint is known", async () => {
    await using sim = await startSim();
    const response = await sim.handle(new Request(`${sim.url}/__sim/openapi.json`));
    const { paths } = (await response.json()) as { paths: Record<string, Record<string, unknown>> };
    const scopes = [...JSON.stringify(paths).matchAll(/"personal_api_key":\["([^"]+)"\]/g)].map(([, it]) => it);
    expect(scopes.length).toBeGreaterThan(50);
    expect(scopes.filter((it) => it !== undefined && !knownScopes.includes(it))).toEqual([]);
  });
});
