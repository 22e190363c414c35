import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";

// Requests whose right answer a source of the service gives; each goes over HTTP.

const sims: Sim[] = [];
afterEach(async () => {
  await Promise.all(sims.splice(0).map((sim) => sim.close()));
});

const key = "phc_rows";
const personal = "phx_rows";

async function start(options: SimOptions = {}): Promise<Sim> {
  const project = { id: 1, name: "App", api_key: key };
  const scenario: SimOptions["scenario"] = {
    version: 1,
    organizations: [{ name: "Org", projects: [project] }],
    personal_api_keys: [{ key: personal, scopes: ["*"] }],
  };
  const sim = await startSim({ scenario, ...options });
  sims.push(sim);
  return sim;
}

const headers = { authorization: `Bearer ${personal}`, "content-type": "application/json" };

async function set(sim: Sim, settings: object): Promise<void> {
  const body = JSON.stringify(settings);
  const answer = await fetch(`${sim.url}/api/projects/1/`, { method: "PATCH", headers, body });
  expect(answer.status).toBe(200);
}

/** A document of the service's API, as far as these tests read it. */
interface Answer {
  results: { distinct_ids: string[]; properties: object }[];
}

const get = async (sim: Sim, path: string): Promise<Answer> =>
  (await (await fetch(sim.url + path, { headers })).json()) as Answer;

async function query(sim: Sim, text: string): Promise<unknown[][]> {
  const body = JSON.stringify({ query: { kind: "HogQLQuery", query: text } });
  const answer = await fetch(`${sim.url}/api/projects/1/query/`, { method: "POST", headers, body });
  return ((await answer.json()) as { results: unknown[][] }).results;
}

const send = (sim: Sim, body: string | Buffer, path = "/batch/", more: Record<string, string> = {}) =>
  fetch(sim.url + path, { method: "POST", headers: { "content-type": "application/json", ...more }, body });

async function capture(sim: Sim, event: object, status = 200) {
  const answer = await send(sim, JSON.stringify({ api_key: key, event: "e", distinct_id: "u", ...event }), "/e/");
  expect(answer.status).toBe(status);
  return sim.events.list();
}

describe("distinct ids that are no text", () => {
  test.each([
    ["9007199254740993", "9007199254740993"],
    ["18446744073709551615", "18446744073709551615"],
    ["18446744073709551616", "1.8446744073709552e19"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["1.0", "1.0"],
    ["12.50", "12.5"],
    ["1e15", "1000000000000000.0"],
    ["1e16", "1e16"],
    ["123456789012345678.5", "1.2345678901234568e17"],
    ["0.00001", "0.00001"],
    ["0.000001", "1e-6"],
    ["0.0001", "0.0001"],
    ["-0", "-0.0"],
    ["7", "7"],
    ['{"b":1,"a":{"10":true,"9":null}}', '{"a":{"10":true,"9":null},"b":1}'],
    ["[2,1]", "[2,1]"],
    ['[1.0,{"b":9007199254740993,"a":"1.0"}]', '[1.0,{"a":"1.0","b":9007199254740993}]'],
    ['{ "x": [1e20, -0], "q\\"}": 12.50 }', '{"q\\"}":12.5,"x":[1e20,-0.0]}'],
    ["true", "true"],
  ])("%s is kept as serde_json writes it", async (sent, kept) => {
    const sim = await start();
    const body = (id: string) =>
      `{"api_key":"${key}","batch":[{"event":"top","distinct_id": ${id}},{"event":"in","properties":{"distinct_id":${id}}}]}`;
    expect((await send(sim, body(sent))).status).toBe(200);
    const events = await sim.events.list();
    expect(events.map((it) => it.distinct_id)).toEqual([kept, kept]);
    expect(await sim.events.list({ distinct_id: kept })).toHaveLength(2);
    expect(await query(sim, "select distinct distinct_id from events")).toEqual([[kept]]);
  });

  test("two that differ in the last digit are two persons, in flags as well", async () => {
    const sim = await start();
    for (const id of ["9007199254740992", "9007199254740993"]) {
      await send(
        sim,
        `{"api_key":"${key}","event":"e","distinct_id":${id},"properties":{"$set":{"n":"${id}"}}}`,
        "/e/",
      );
      await send(sim, `{"token":"${key}","distinct_id":${id}}`, "/flags/?v=2");
    }
    const { results } = await get(sim, "/api/projects/1/persons/");
    expect(results.flatMap((it: { distinct_ids: string[] }) => it.distinct_ids).sort()).toEqual([
      "9007199254740992",
      "9007199254740993",
    ]);
  });

  test("are still there after a restart", async () => {
    const sim = await start();
    await send(sim, `{"api_key":"${key}","event":"e","distinct_id":9007199254740993}`, "/e/");
    const state = await sim.state.export();
    const other = await start();
    await other.state.import(state);
    expect(await other.events.list({ distinct_id: "9007199254740993" })).toHaveLength(1);
  });
});

describe("addresses", () => {
  test.each([[null], [""], ["10.0.0.7"]])("$ip: %j stays as it was sent", async (ip) => {
    const [event] = await capture(await start(), { properties: { $ip: ip } });
    expect(event?.properties.$ip).toBe(ip);
  });

  test.each([{}, { $ip: "10.0.0.7" }])("anonymize_ips: %j has no $ip", async (properties) => {
    const sim = await start();
    await set(sim, { anonymize_ips: true });
    const [event] = await capture(sim, { properties });
    expect(event?.properties).not.toHaveProperty("$ip");
    expect(await query(sim, "select properties.$ip from events")).toEqual([[null]]);
  });
});

describe("elements (upstream elements-chain.ts)", () => {
  test.each([
    [
      [
        {
          tag_name: "a",
          $el_text: 'Say "hi"',
          attr__href: "/x",
          attr__class: ["z", "b"],
          nth_child: 1,
          nth_of_type: 2,
        },
        { tag_name: "div", attr__id: "main", attr__class: "wide big", nth_child: 3, nth_of_type: 1 },
      ],
      'a.b.z:attr__class="z,b"attr__href="/x"href="/x"nth-child="1"nth-of-type="2"text="Say \\"hi\\"";' +
        'div.big.wide:attr__class="wide big"attr__id="main"attr_id="main"nth-child="3"nth-of-type="1"',
    ],
    [[{ tag_name: "b" }], 'b:nth-child="0"nth-of-type="0"'],
    [[], ""],
    ["nothing of the kind", ""],
  ])("a list becomes a chain: %#", async ($elements, chain) => {
    const sim = await start();
    const [event] = await capture(sim, { event: "$autocapture", properties: { $elements } });
    expect(event?.properties).toMatchObject({ $elements_chain: chain });
    expect(event?.properties).not.toHaveProperty("$elements");
    const { results } = await get(sim, "/api/projects/1/events/");
    expect(results).toMatchObject([{ elements_chain: chain }]);
    expect(results[0]?.properties).not.toHaveProperty("$elements_chain");
    expect(await query(sim, "select elements_chain from events")).toEqual([[chain]]);
  });

  test("a chain that was sent wins over a list", async () => {
    const properties = { $elements: [{ tag_name: "a" }], $elements_chain: "b:" };
    const [event] = await capture(await start(), { properties });
    expect(event?.properties).toMatchObject({ $elements_chain: "b:" });
    expect(event?.properties).not.toHaveProperty("$elements");
  });
});

describe("what the service keeps elsewhere", () => {
  test.each(["$$heatmap", "$$client_ingestion_warning"])("%s is no event of the service", async (event) => {
    const sim = await start();
    await capture(sim, { event: "before" });
    const events = await capture(sim, { event, distinct_id: "other", properties: { $set: { a: 1 } } });
    expect(events.map((it) => it.event)).toContain(event);
    expect((await get(sim, "/api/projects/1/events/")).results).toMatchObject([{ event: "before" }]);
    expect((await get(sim, "/api/projects/1/persons/")).results).toHaveLength(1);
    expect((await get(sim, "/api/projects/1/event_definitions/")).results).toMatchObject([{ name: "before" }]);
    expect(await query(sim, "select event from events")).toEqual([["before"]]);
    await capture(sim, { event: "after" });
    expect(await query(sim, "select event from events order by event")).toEqual([["after"], ["before"]]);
  });

  test("$heatmap_data is no property", async () => {
    const sim = await start();
    const [event] = await capture(sim, { event: "$pageview", properties: { $heatmap_data: { "/": [] }, a: 1 } });
    expect(event?.properties).toMatchObject({ a: 1 });
    expect(event?.properties).not.toHaveProperty("$heatmap_data");
    expect(await query(sim, "select properties.$heatmap_data from events")).toEqual([[null]]);
  });
});

describe("visitors without cookies (upstream cookieless-manager.ts)", () => {
  const visitor = { $cookieless_mode: true, $raw_user_agent: "Firefox", $host: "shop.example.com", $ip: "10.0.0.7" };
  const sent = (properties: object = {}, event = "$pageview", distinct_id = "$posthog_cookieless") => ({
    event,
    distinct_id,
    properties: { ...visitor, ...properties },
  });

  test("are dropped where the project does not count them", async () => {
    const sim = await start();
    const [event] = await capture(sim, sent());
    expect(event).toMatchObject({ outcome: "dropped", reason: "cookieless_team_disabled" });
  });

  test("have an id for each day and browser, and no personal properties", async () => {
    const sim = await start({ clock: "2026-03-04T10:00:00Z" });
    await set(sim, { cookieless_server_hash_mode: 1 });
    await capture(sim, sent());
    await capture(sim, sent({ $host: "example.com" }));
    await capture(sim, sent({ $raw_user_agent: "Safari" }));
    await capture(sim, { ...sent(), timestamp: "2026-03-03T10:00:00Z" });
    const events = await sim.events.list();
    const [first, same, other, earlier] = events;
    expect(first?.distinct_id).toMatch(/^cookieless_[A-Za-z0-9+/]{22}$/);
    expect(same?.distinct_id).toBe(first?.distinct_id);
    expect(new Set([first, other, earlier].map((it) => it?.distinct_id)).size).toBe(3);
    expect(first?.properties.$device_id).toMatch(/^cookielessd_/);
    expect(first?.properties.$session_id).toBe(same?.properties.$session_id);
    for (const name of ["$ip", "$raw_user_agent", "$cookieless_extra"])
      expect(JSON.stringify(events.map((it) => it.properties))).not.toContain(`"${name}"`);
    expect((await get(sim, "/api/projects/1/persons/")).results).toHaveLength(3);
    expect(await query(sim, "select uniq(distinct_id), uniq(person_id) from events")).toEqual([[3, 3]]);
  });

  test("count again after a login, where the project keeps state", async () => {
    const sim = await start();
    await set(sim, { cookieless_server_hash_mode: 2 });
    await capture(sim, sent());
    await capture(sim, sent({ $anon_distinct_id: "$posthog_cookieless" }, "$identify", "anna"));
    await capture(sim, sent({}, "bought", "anna"));
    await capture(sim, sent());
    const [before, login, bought, after] = await sim.events.list();
    expect(login?.properties.$anon_distinct_id).toBe(before?.distinct_id);
    expect([login, bought].map((it) => it?.distinct_id)).toEqual(["anna", "anna"]);
    expect(after?.distinct_id).not.toBe(before?.distinct_id);
    expect(login?.person_id).toBe(before?.person_id);
    expect(login?.properties.$session_id).toBe(before?.properties.$session_id);
  });

  test.each([
    [{ $raw_user_agent: null }, "$pageview", "cookieless_missing_ua"],
    [{ $ip: "" }, "$pageview", "cookieless_missing_ip"],
    [{ $host: undefined }, "$pageview", "cookieless_missing_host"],
    [{}, "$create_alias", "cookieless_disallowed_event"],
    [{}, "$identify", "cookieless_stateless_disallowed_identify"],
  ])("%j of %s: %s", async (properties, event, reason) => {
    const sim = await start();
    await set(sim, { cookieless_server_hash_mode: 1 });
    const [stored] = await capture(sim, sent(properties, event));
    expect(stored).toMatchObject({ outcome: "dropped", reason });
  });

  test("may send capture v1", async () => {
    const sim = await start();
    await set(sim, { cookieless_server_hash_mode: 1 });
    const uuid = "018f3b6e-0000-7000-8000-000000000001";
    const time = new Date().toISOString();
    const { $cookieless_mode: _, ...properties } = visitor;
    const item = { event: "e", uuid, distinct_id: "$posthog_cookieless", timestamp: time, properties };
    const body = JSON.stringify({ created_at: time, batch: [{ ...item, options: { cookieless_mode: true } }] });
    const answer = await send(sim, body, "/i/v1/analytics/events", {
      authorization: `Bearer ${key}`,
      "posthog-sdk-info": "test/1",
      "posthog-attempt": "1",
      "posthog-request-id": uuid,
      "posthog-request-timestamp": time,
    });
    expect(answer.status).toBe(200);
    const events = await sim.events.list();
    expect(events[0]?.distinct_id).toMatch(/^cookieless_/);
    expect(events[0]?.properties).not.toHaveProperty("$raw_user_agent");
  });
});

describe("bodies", () => {
  const event = JSON.stringify({ api_key: key, event: "e", distinct_id: "u" });
  const zip = gzipSync(event);
  /** Of two megabytes, which a thread of the system unpacks. */
  const large = gzipSync(
    JSON.stringify({ api_key: key, batch: [{ event: "e", distinct_id: "u", properties: { a: "x".repeat(2e6) } }] }),
    { level: 0 },
  );

  test.each<[string, Buffer, number]>([
    ["a gzip member", zip, 200],
    ["a large one", large, 200],
    ["bytes behind a member", Buffer.concat([zip, Buffer.from("rest")]), 200],
    ["bytes behind a large one", Buffer.concat([large, Buffer.from("rest")]), 200],
    ["a second member, which is not read", Buffer.concat([zip, gzipSync("more")]), 200],
    ["JSON cut into two members", Buffer.concat([gzipSync(event.slice(0, 20)), gzipSync(event.slice(20))]), 400],
    ["a wrong checksum", Buffer.concat([zip.subarray(0, -8), Buffer.alloc(8)]), 400],
    ["a large one with a wrong checksum", Buffer.concat([large.subarray(0, -8), Buffer.alloc(8)]), 400],
    ["a member without its end", zip.subarray(0, -4), 400],
    ["a header alone", zip.subarray(0, 5), 400],
  ])("gzip: %s", async (_, body, status) => {
    const sim = await start();
    const answer = await send(sim, body, "/e/", { "content-encoding": "gzip" });
    expect(answer.status).toBe(status);
    expect(await sim.events.list()).toHaveLength(status === 200 ? 1 : 0);
  });

  test("a form's base64 may have a raw plus, and no compression", async () => {
    const sim = await start();
    const base64 = Buffer.from(JSON.stringify({ api_key: key, event: "~~~>>>???", distinct_id: "u" })).toString(
      "base64",
    );
    expect(base64).toContain("+");
    const type = { "content-type": "application/x-www-form-urlencoded" };
    expect((await send(sim, `data=${base64}`, "/e/", type)).status).toBe(200);
    expect(await sim.events.list()).toMatchObject([{ event: "~~~>>>???" }]);
  });
});

describe("fields that serde refuses (upstream v0_request.rs)", () => {
  const item = '"event":"e","distinct_id":"u"';
  test.each([
    ["token and api_key", `{"batch":[{${item},"token":"${key}","api_key":"${key}"}],"api_key":"${key}"}`],
    ["event twice", `{"api_key":"${key}","batch":[{${item},"event":"f"}]}`],
    ["event twice, alone", `{"api_key":"${key}",${item},"event":"f"}`],
    ["event twice, in a list", `[{"api_key":"${key}",${item},"event":"f"}]`],
    ["distinct_id and $distinct_id", `{"api_key":"${key}",${item},"$distinct_id":"v"}`],
    ["historical_migration", `{"api_key":"${key}","historical_migration":"true","batch":[{${item}}]}`],
    ["sent_at", `{"api_key":"${key}","sent_at":1700000000,"batch":[{${item}}]}`],
    ["1e400", `{"api_key":"${key}",${item},"properties":{"n":1e400}}`],
  ])("%s: 400 in dialect production, read in documented", async (_, body) => {
    const strict = await start({ dialect: "production" });
    expect((await send(strict, body)).status).toBe(400);
    expect(await strict.events.list()).toEqual([]);
    expect((await send(await start(), body)).status).toBe(200);
  });

  test.each([
    [
      "names that stand twice below properties",
      `{"api_key":"${key}",${item},"properties":{"event":1,"x":{"event":2}}}`,
    ],
    ["names in text", `{"api_key":"${key}",${item},"properties":{"t":"\\"event\\":1,\\"event\\":2"}}`],
    ["a large number", `{"api_key":"${key}",${item},"properties":{"n":1e300,"t":"1e400"}}`],
  ])("%s: fine", async (_, body) => {
    expect((await send(await start({ dialect: "production" }), body)).status).toBe(200);
  });
});

// nodejs/src/ingestion: validate-event-properties.ts, groups.ts (`addGroupProperties`): the newest versions
describe("ids and groups of other types", () => {
  test.each<[string, object, string]>([
    ["$identify", { $anon_distinct_id: 42 }, "invalid_anon_distinct_id"],
    ["$identify", { $anon_distinct_id: true }, "invalid_anon_distinct_id"],
    ["$create_alias", { alias: 7 }, "invalid_alias"],
    ["$merge_dangerously", { alias: ["7"] }, "invalid_alias"],
  ])("%s with %j is dropped", async (event, properties, reason) => {
    const sim = await start();
    expect(await capture(sim, { event, properties })).toMatchObject([{ outcome: "dropped", reason }]);
    expect((await get(sim, "/api/projects/1/persons/")).results).toEqual([]);
  });

  test.each([[["acme"]], ["acme"], [7]])("$groups: %j has no effect, with a warning", async ($groups) => {
    const sim = await start();
    const events = await capture(sim, { properties: { $groups } });
    expect(events).toMatchObject([{ outcome: "kept", warnings: ["malformed_groups"] }]);
    expect(events[0]?.properties).not.toHaveProperty("$group_0");
  });
});
