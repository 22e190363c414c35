import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { fc } from "../support/chance.ts";
import { openSim } from "../support/sim.ts";
import { callsOf, type GeneratedCall } from "./calls.ts";
import { documentOf, type Operation, operationsOf } from "./document.ts";
import { ids, keys, twoOrganizations } from "./two-organizations.ts";

/** Calls of each operation whose bodies are changed. */
const runs = Number(process.env.FUZZ_RUNS ?? 4);
const seed = Number(process.env.FUZZ_SEED ?? 7490);

/** JSON texts of values that have no text, no length or no order, though they look as if they had. */
const hostile: readonly string[] = [
  '{"toString":1}',
  '{"toString":null,"valueOf":null}',
  '{"length":[{"toString":1},null]}',
  '{"size":{"toString":1,"valueOf":2},"length":{"valueOf":1,"toString":0}}',
  '{"toJSON":{"toString":1},"then":1,"constructor":null}',
  '{"__proto__":{"toString":1},"hasOwnProperty":1}',
  '[{"toString":1}]',
  '[[{"toString":1}]]',
  '"\\ud800"',
  '{"\\udc00\\ud800":"\\ud800"}',
];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Stands for a hostile value until the body is text. */
const mark = "hostile value of the test";

/** The values with one of their fields, or one of a field's own, replaced by the mark. */
function* marked(value: unknown, depth = 0): Generator<unknown> {
  if (depth > 3) return;
  if (Array.isArray(value)) {
    yield [...value, mark];
    const [first, ...rest] = value;
    for (const it of marked(first, depth + 1)) yield [it, ...rest];
  } else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      yield { ...value, [key]: mark };
      for (const it of marked(inner, depth + 1)) yield { ...value, [key]: it };
    }
  }
}

const unknownKeys = '"\\ud800":1,"a\\udfff b":{"toString":1},"toString":1,"refresh":{"toString":1}';

/** The bodies made of one: a hostile value at each place, each kind in turn, and with unknown keys. */
function* hostileBodies(body: string, turn: () => number): Generator<string> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return;
  }
  if (isRecord(value)) yield body.replace(/\{/, `{${unknownKeys}${Object.keys(value).length === 0 ? "" : ","}`);
  for (const it of marked(value)) {
    const text = JSON.stringify(it);
    yield text.replace(JSON.stringify(mark), hostile[turn() % hostile.length] ?? "");
  }
}

const notices: string[] = [];
const { sim } = await openSim({ scenario: twoOrganizations, onNotice: (text) => notices.push(text) });

async function statusOf({ method }: Operation, { path, headers }: GeneratedCall, body: string): Promise<number> {
  const type = { "content-type": "application/json", ...headers };
  const answer = await fetch(sim.url + path, { method, headers: type, body, redirect: "manual" });
  await answer.body?.cancel();
  return answer.status;
}

await using described = await startSim({ scenario: twoOrganizations });
const { components, ...document } = await documentOf(described);
const operations = operationsOf({ components, ...document });

describe("values that cannot become text", () => {
  const reading = operations.filter((it) => it.requestBody !== undefined);
  test.each(reading.map((it): [string, Operation] => [`${it.method} ${it.path}`, it]))(
    "%s answers",
    async (_, operation) => {
      let count = 0;
      const turn = () => count++;
      const failed: string[] = [];
      for (const call of fc.sample(callsOf(operation, components.schemas), { numRuns: runs, seed }))
        for (const body of hostileBodies(call.body ?? "{}", turn)) {
          const status = await statusOf(operation, call, body);
          if (status >= 500 && status !== 501) failed.push(`${status} ${call.path} ${body.slice(0, 2_000)}`);
        }
      expect(failed).toEqual([]);
      expect(notices.splice(0).filter((it) => it.includes("bug"))).toEqual([]);
    },
    60_000,
  );
});

/** Properties with a meaning of their own. */
const properties: readonly string[] = [
  ..."$set $set_once $unset $groups $group_type $group_key $group_set $anon_distinct_id alias distinct_id token".split(
    " ",
  ),
  ..."$lib $lib_version $current_url $pathname $host $referrer $session_id $window_id $ip $useragent".split(" "),
  ..."$feature_flag $feature_flag_response $feature/beta $active_feature_flags $feature_flag_payload".split(" "),
  ..."$exception_list $exception_type $exception_message $exception_fingerprint $exception_level $issue_name".split(
    " ",
  ),
  ..."$ai_trace_id $ai_span_id $ai_parent_id $ai_input $ai_output_choices $ai_model $ai_latency $ai_input_tokens".split(
    " ",
  ),
  ..."$ai_tools $ai_error $ai_is_error $ai_total_cost_usd $snapshot_data $snapshot_source $heatmap_data".split(" "),
  ..."$elements $elements_chain $event_type $survey_id $survey_response $survey_questions $web_vitals_LCP_value".split(
    " ",
  ),
  ..."$geoip_country_code $timezone $process_person_profile $cookieless_mode $sent_at $time $insert_id plain".split(
    " ",
  ),
];

const names =
  "seen $pageview $identify $create_alias $groupidentify $set $exception $feature_flag_called $ai_generation $snapshot $autocapture $web_vitals".split(
    " ",
  );

/** Events whose every property is a hostile value, sent one by one, as one could be refused. */
async function sendHostileEvents(url: string): Promise<void> {
  for (const [turn, event] of names.entries()) {
    const values = properties.map(
      (name, i) => `${JSON.stringify(name)}:${hostile[(turn + i) % hostile.length] ?? "null"}`,
    );
    const body = `{"api_key":"${ids.projectKey}","event":"${event}","distinct_id":"user-${turn}","properties":{${values.join()}}}`;
    const answer = await fetch(`${url}/capture/`, { method: "POST", body });
    expect(answer.status).toBeLessThan(500);
    for (const name of properties) {
      const one = `{"${name}":${hostile[turn % hostile.length] ?? "null"},"amount":1}`;
      const single = `{"api_key":"${ids.projectKey}","event":"${event}","distinct_id":"user-1","properties":${one}}`;
      expect((await fetch(`${url}/capture/`, { method: "POST", body: single })).status).toBeLessThan(500);
    }
  }
}

describe("events with values that cannot become text", () => {
  let url = "";
  const said: string[] = [];
  let holder: Sim;
  beforeAll(async () => {
    holder = await startSim({ scenario: twoOrganizations, onNotice: (text) => said.push(text) });
    ({ url } = holder);
    await sendHostileEvents(url);
  }, 60_000);
  afterAll(() => holder.close());

  const showing = operations.filter(({ method, path }) => method === "GET" && !path.endsWith("/stream"));
  test.each(showing.map((it): [string, Operation] => [`${it.method} ${it.path}`, it]))(
    "%s shows them",
    async (_, operation) => {
      const failed: string[] = [];
      for (const { path, headers } of fc.sample(callsOf(operation, components.schemas), { numRuns: runs, seed })) {
        const answer = await fetch(url + path, { headers, redirect: "manual" });
        await answer.body?.cancel();
        if (answer.status >= 500 && answer.status !== 501) failed.push(`${answer.status} ${path}`);
      }
      expect(failed).toEqual([]);
      expect(said.splice(0).filter((it) => it.includes("bug"))).toEqual([]);
    },
    60_000,
  );

  const queries: readonly object[] = [
    { kind: "HogQLQuery", query: "select event, properties, person.properties, distinct_id from events" },
    ...["$set", "$groups", "$current_url", "plain", "$exception_list"].flatMap((name) => [
      { kind: "HogQLQuery", query: `select properties.\`${name}\`, count() from events group by 1 order by 1` },
      { kind: "EventsQuery", select: ["*", `properties.${name}`], where: [`properties.${name} > 1`] },
      ...["event", "person"].map((type) => ({
        kind: "TrendsQuery",
        series: [{ kind: "EventsNode", event: null, math: "sum", math_property: name }],
        properties: [{ type, key: name, operator: "icontains", value: "a" }],
        breakdownFilter: { breakdowns: [{ type, property: name }] },
      })),
    ]),
  ];
  test.each(queries.map((it): [string, object] => [JSON.stringify(it), it]))("%s", async (_, query) => {
    const answer = await fetch(`${url}/api/projects/${ids.project}/query/`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.all}`, "content-type": "application/json" },
      body: JSON.stringify({ query, refresh: "force_blocking" }),
    });
    expect([answer.status, await answer.text()]).toEqual([
      expect.toSatisfy((it: number) => it < 500),
      expect.any(String),
    ]);
    expect(said.splice(0).filter((it) => it.includes("bug"))).toEqual([]);
  });
});
