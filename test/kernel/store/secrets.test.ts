import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

const secrets = ["phx_0123456789abcdefghij", "phs_0123456789abcdefghij", "pha_0123456789abcdefghij"];
const cookie = "session=0123456789";
const opaque = "opaque0123456789";

const event = (extra: object) => JSON.stringify({ api_key: "phc_sim_default", event: "e", distinct_id: "u", ...extra });

/** Every place in a request where a key has been seen to hide. */
const requests = (secret: string): [path: string, init: RequestInit][] => [
  ["/capture/", { method: "POST", headers: { authorization: `Bearer ${secret}` }, body: event({}) }],
  ["/capture/", { method: "POST", headers: { cookie, "x-api-key": secret }, body: event({}) }],
  ["/capture/", { method: "POST", headers: { "x-auth-token": opaque }, body: event({}) }],
  ["/capture/", { method: "POST", body: event({ properties: { key: secret, text: `my key is ${secret}.` } }) }],
  ["/batch/", { method: "POST", body: gzipSync(event({ properties: { key: secret } })) }],
  ["/e/", { method: "POST", body: Buffer.from(event({ properties: { key: secret } })).toString("base64") }],
  ["/capture/", { method: "POST", body: event({ properties: { $set: { token: secret } } }) }],
  ["/capture/", { method: "POST", body: event({ $set_once: { first: secret }, note: "two\nlines" }) }],
  [
    "/capture/",
    {
      method: "POST",
      body: event({
        event: "$groupidentify",
        properties: { $group_type: "team", $group_key: "t", $group_set: { key: secret } },
      }),
    },
  ],
  [
    "/i/v1/analytics/events",
    {
      method: "POST",
      headers: {
        authorization: "Bearer phc_sim_default",
        "posthog-sdk-info": "x/1",
        "posthog-attempt": "1",
        "posthog-request-id": crypto.randomUUID(),
        "posthog-request-timestamp": new Date().toISOString(),
        "user-agent": "x",
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: gzipSync(
        JSON.stringify({
          created_at: new Date().toISOString(),
          batch: [
            {
              event: "v1",
              uuid: crypto.randomUUID(),
              distinct_id: "u",
              timestamp: new Date().toISOString(),
              properties: { key: secret },
            },
          ],
        }),
      ),
    },
  ],
  ["/e/", { method: "POST", body: `not json ${secret}` }],
  [`/api/surveys/?token=phc_sim_default&personal_api_key=${secret}`, {}],
  [`/nowhere?key=${secret}`, { method: "POST", body: JSON.stringify({ personal_api_key: secret }) }],
  ["/flags/?v=2", { method: "POST", body: JSON.stringify({ token: secret, distinct_id: "u" }) }],
];

/** Every place in the headers of an answer where a secret has been seen. */
const answered = (secret: string): [name: string, value: string][] => [
  ["set-cookie", `${cookie}; Path=/`],
  ["x-echo-authorization", `Bearer ${opaque}`],
  ["x-auth-token", opaque],
  ["x-seen", `the key ${secret}`],
  ["location", `https://app.test/?next=1&access_token=${opaque}`],
  ["content-location", `/back#access_token=${opaque}&state=1`],
];

test("no secret reaches the disk, whatever place it came in", async () => {
  const sim = await startSim({ data: folder });
  for (const secret of secrets) {
    await sim.answers.queue({ status: 302, headers: Object.fromEntries(answered(secret)) });
    await sim.handle(new Request(`${sim.url}/capture/`, { method: "POST", body: event({}) }));
  }
  const shown = await sim.handle(new Request(`${sim.url}/__sim/requests/1`));
  expect(await shown.json()).toMatchObject({
    reply_headers: expect.arrayContaining([
      ["set-cookie", "***"],
      ["x-echo-authorization", "Bearer ***"],
      ["x-auth-token", "***"],
      ["x-seen", "the key phx_***"],
      ["location", "https://app.test/?next=1&access_token=***"],
      ["content-location", "/back#access_token=***&state=1"],
    ]),
  });
  for (const secret of secrets) {
    for (const [path, init] of requests(secret)) await sim.handle(new Request(sim.url + path, init));
  }
  const kept = await sim.events.list({ outcome: "kept" });
  expect(kept.filter((it) => typeof it.properties.key === "string").map((it) => it.properties.key)).toContain(
    "phx_***",
  );
  expect(kept.map((it) => it.event)).toEqual(expect.arrayContaining(["e", "$groupidentify", "v1"]));
  await sim.close();
  const onDisk = readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"));
  const encoded = (text: string) => Buffer.from(text).toString("base64").slice(4, -4);
  for (const secret of [...secrets, cookie, opaque]) {
    expect(onDisk.filter((text) => text.includes(secret) || text.includes(encoded(secret)))).toEqual([]);
  }
  expect(onDisk.join("")).toContain("phc_sim_default");
});

const headers: [name: string, sent: string, shown: string][] = [
  ["authorization", "Bearer phc_sim_default", "Bearer phc_sim_default"],
  ["authorization", "bearer  phc_a-b_1", "bearer  phc_a-b_1"],
  ["x-api-key", "phc_sim_default", "phc_sim_default"],
  ["authorization", "Bearer phx_0123456789", "Bearer phx_***"],
  ["authorization", "Bearer phs_0123456789", "Bearer phs_***"],
  ["authorization", "Bearer phc_a phx_0123456789", "Bearer phc_***"],
  ["authorization", "Bearer phc_a:0123456789", "Bearer phc_***"],
  ["authorization", "Basic cGhjX2E6eA==", "Basic ***"],
  ["authorization", `Bearer ${opaque}`, "Bearer ***"],
  ["cookie", "phc_a=0123456789", "phc_***"],
];

test.each(headers)("the journal shows %s: %s as %s", async (name, sent, shown) => {
  await using sim = await startSim();
  await sim.handle(new Request(`${sim.url}/capture/`, { method: "POST", body: event({}), headers: { [name]: sent } }));
  const answer = await sim.handle(new Request(`${sim.url}/__sim/requests/1`));
  expect(await answer.json()).toMatchObject({ headers: expect.arrayContaining([[name, shown]]) });
});
