import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Sim, startSim } from "../../src/index.ts";
import type { RecordingFindings, StoredRecording, StoredRecordingPage } from "../../src/sessions/shapes.ts";
import { element, opening, packed, sendPart, session, start, typedIn } from "./recorded.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim({ clock: new Date(start + 60_000).toISOString() });
});
afterEach(() => sim.close());

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await sim.handle(
    new Request(`${sim.url}/__sim/${path}`, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    }),
  );
  return { status: response.status, body: await response.json() };
}

const search = async (...values: string[]): Promise<RecordingFindings> =>
  (await ask("POST", "recordings/search", { values })).body as RecordingFindings;

/** Where each find is: `1 input form#pay > input[name="mail"] value`. */
const placesOf = ({ finds }: RecordingFindings): string[] =>
  finds.map((it) => [it.value, it.place, it.path ?? "-", it.name ?? "-"].join(" "));

const mail = "jane@acme.test";
const card = "4242 4242 4242 4242";

const mutation = (data: JsonObject, at = start + 2_000): JsonObject => ({
  type: 3,
  timestamp: at,
  cv: "2024-10",
  data: {
    source: 0,
    texts: packed([]),
    attributes: packed([]),
    removes: packed([]),
    adds: packed([]),
    ...data,
  },
});
const plugin = (name: string, payload: JsonObject): JsonObject => ({
  type: 6,
  timestamp: start + 3_000,
  data: { plugin: name, payload },
});

/** What is recorded, and where it is found. */
const recorded: Readonly<Record<string, (body: JsonObject) => readonly [JsonObject[], string[]]>> = {
  "a text of the page": () => [
    opening(element("body", {}, element("p", { id: "who" }, `Signed in as ${mail}`))),
    ["1 text p#who -"],
  ],
  "an attribute": () => [
    opening(element("body", {}, element("img", { alt: `Photo of ${mail}` }))),
    ["1 attribute html > body > img alt"],
  ],
  "an inline style": () => [
    opening(element("body", { style: `--who: "${mail}"` })),
    ["1 style html > body style"],
  ],
  "a style sheet": () => [
    opening(element("body"), [element("style", { _cssText: `p::after { content: "${mail}" }` })]),
    ["1 style html > head > style _cssText"],
  ],
  "a style sheet with a character by its number": () => [
    opening(element("body"), [element("link", { _cssText: 'p::after { content: "jane\\40 acme.test" }' })]),
    ["1 style html > head > link _cssText"],
  ],
  "what was typed": () => {
    const input = element("input", { name: "mail" });
    return [
      [
        ...opening(element("body", {}, element("form", { id: "pay" }, input))),
        typedIn(input, mail, start + 9),
      ],
      ['1 input form#pay > input[name="mail"] value'],
    ];
  },
  "an added text": () => {
    const list = element("ul");
    const node = element("li", {}, mail);
    return [
      [
        ...opening(element("body", {}, list)),
        mutation({ adds: packed([{ parentId: list.id ?? 0, nextId: null, node }]) }),
      ],
      ["1 text html > body > ul > li -"],
    ];
  },
  "a changed text": () => {
    const text = element("b", {}, "…");
    const [{ id } = { id: 0 }] = text.childNodes as JsonObject[];
    return [
      [...opening(element("body", {}, text)), mutation({ texts: packed([{ id, value: mail }]) })],
      ["1 text html > body > b -"],
    ];
  },
  "a changed attribute": () => {
    const link = element("a");
    return [
      [
        ...opening(element("body", {}, link)),
        mutation({
          attributes: packed([{ id: link.id ?? 0, attributes: { href: "/u?m=jane%40acme.test" } }]),
        }),
      ],
      ["1 attribute html > body > a href"],
    ];
  },
  "a changed style": () => {
    const link = element("a");
    const attributes = { style: { content: [`"${mail}"`, "important"] } };
    return [
      [
        ...opening(element("body", {}, link)),
        mutation({ attributes: packed([{ id: link.id ?? 0, attributes }]) }),
      ],
      ["1 style html > body > a style.content[0]"],
    ];
  },
  "an inserted rule": () => [
    [
      ...opening(element("body")),
      {
        type: 3,
        timestamp: start + 9,
        data: { source: 8, adds: packed([{ rule: `a { content: "${mail}" }` }]) },
      },
    ],
    ["1 style - adds[0].rule"],
  ],
  "the body of a request": () => [
    [
      plugin("rrweb/network@1", {
        requests: [
          { name: "http://shop.test/pay", requestBody: JSON.stringify({ note: `"${mail}"`, at: 1 }) },
        ],
      }),
    ],
    ["1 network - requests[0].requestBody"],
  ],
  "the address of a request": () => [
    [plugin("rrweb/network@1", { requests: [{ name: "http://shop.test/pay?m=jane%40acme.test" }] })],
    ["1 network - requests[0].name"],
  ],
  "a message of the console": () => [
    [plugin("rrweb/console@1", { level: "log", trace: [], payload: ['"paid by jane\\u0040acme.test"'] })],
    ["1 console - payload[0]"],
  ],
  "a custom event": () => [
    [
      {
        type: 5,
        timestamp: start,
        data: { tag: "$pageview", payload: { href: `http://shop.test/?m=${mail}` } },
      },
    ],
    ["1 custom - payload.href"],
  ],
  "the address of the page": () => [
    [
      {
        type: 4,
        timestamp: start,
        data: { href: "http://shop.test/#jane&#64;acme.test", width: 1, height: 1 },
      },
    ],
    ["1 page - href"],
  ],
  "a wireframe of a mobile app": () => [
    [{ type: 2, timestamp: start, data: { wireframes: [{ type: "text", text: mail }] } }],
    ["1 text - wireframes[0].text"],
  ],
  "a record of an unknown kind": () => [
    [{ type: 3, timestamp: start, data: { source: 77, note: [mail] } }],
    ["1 other - note[0]"],
  ],
};

describe("POST /__sim/recordings/search", () => {
  test.each(Object.entries(recorded))("finds a value in %s", async (_, make) => {
    const [items, places] = make({});
    await sendPart(sim, items);
    const findings = await search(mail);
    expect(placesOf(findings)).toEqual(places);
    expect(placesOf(await search("Jane@acme.test"))).toEqual([]);
  });

  test.each([
    "4242424242424242",
    "4242-4242-4242-4242",
    "4242.4242 4242\u00a04242",
    "pay=4242+4242+4242+4242&x=1",
  ])("finds a number with other separators: %s", async (text) => {
    await sendPart(sim, opening(element("body", {}, text)));
    expect(placesOf(await search("none", card))).toEqual(["2 text html > body -"]);
  });

  test("a find has the moment, its link and how often it was recorded", async () => {
    const input = element("input");
    await sendPart(sim, opening(element("body", {}, input)));
    await sendPart(sim, [typedIn(input, mail, start + 5_000), typedIn(input, `${mail} `, start + 6_000)]);
    const { finds, searched } = await search(mail);
    expect(finds).toEqual([
      {
        ...{ value: 1, session, project: 1, window: "w1", seq: 2, place: "input", writing: "text" },
        ...{ path: "html > body > input", name: "value", count: 2 },
        ...{ time: "2026-03-01T12:00:05.000Z", offset_ms: 5_000 },
        link: `/__sim/#/sessions/${session}?at=5000&in=1`,
      },
    ]);
    expect(searched).toMatchObject({ sessions: 1, parts: 2, events: 4 });
  });

  test("no answer holds a value, not even in a selector or a name", async () => {
    const secret = "customer77";
    await sendPart(sim, [
      ...opening(element("body", {}, element("p", { id: secret, [secret]: secret }, secret))),
      plugin("rrweb/network@1", { [secret]: { [secret]: secret } }),
    ]);
    const findings = await search(secret);
    expect(findings.finds.length).toBeGreaterThan(3);
    expect(JSON.stringify(findings)).not.toContain(secret);
  });

  test("what cannot be read is named", async () => {
    await sendPart(sim, [
      ...opening(
        element(
          "body",
          {},
          element("img", { rr_dataURL: "data:image/png;base64,AAAA" }),
          element("canvas", { rr_dataURL: "data:image/png;base64,AAAA" }),
          element("iframe", { src: "https://other.test/" }),
        ),
      ),
      { type: 3, timestamp: start, data: { source: 9, id: 1 } },
      { type: 2, timestamp: start, data: { wireframes: [{ type: "screenshot", base64: "AAAA" }] } },
      { type: 3, timestamp: start, data: { source: 0, adds: "\u001f\u008bdamaged" } },
    ]);
    const { unread, missing } = await search(mail);
    expect(unread).toEqual({ image: 1, canvas: 2, screenshot: 1, frame: 1 });
    expect(missing).toEqual([{ session, seq: 1, reason: "bad_gzip", what: "adds of a mutation", count: 1 }]);
  });

  test("each window has its own nodes", async () => {
    const input = element("input", { id: "first" });
    await sendPart(sim, opening(element("body", {}, input)));
    await sendPart(sim, [typedIn(input, mail, start + 5)], { $window_id: "w2" });
    expect(placesOf(await search(mail))).toEqual(["1 input - value"]);
  });

  test("searches one session, or one project", async () => {
    await sendPart(sim, opening(element("body", {}, mail)));
    await sendPart(sim, opening(element("body", {}, mail)), { $session_id: "s2" });
    const of = async (more: JsonObject) =>
      ((await ask("POST", "recordings/search", { values: [mail], ...more })).body as RecordingFindings).finds;
    expect((await of({})).map((it) => it.session)).toEqual(["s2", session]);
    expect((await of({ session: "s2" })).map((it) => it.session)).toEqual(["s2"]);
    expect(await of({ project: 99 })).toEqual([]);
  });

  test.each([
    [{}, 400, "values"],
    [{ values: [] }, 400, "at least one value"],
    [{ values: ["ab"] }, 400, "3 to 1,000 characters"],
    [{ values: [7] }, 400, "3 to 1,000 characters"],
    [{ values: [mail], session: "nobody" }, 404, "there is no session"],
    [{ values: [mail], sesion: "x" }, 400, "sesion"],
  ])("refuses %j", async (body, status, text) => {
    const answer = await ask("POST", "recordings/search", body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(text);
  });
});

describe("/__sim/recordings", () => {
  test("lists the sessions with a recording, and shows what one holds", async () => {
    const input = element("input");
    await sendPart(sim, [...opening(element("body", {}, "Hello", input)), typedIn(input, "x", start + 5)]);
    const list = (await ask("GET", "recordings")).body as StoredRecordingPage;
    expect(list.recordings.map(({ id, recording }) => [id, recording?.parts])).toEqual([[session, 1]]);
    const shown = (await ask("GET", `recordings/${session}`)).body as StoredRecording;
    expect(shown).toMatchObject({
      kinds: { full: 1, input: 1, other: 1 },
      texts: { page: 1, input: 1 },
      unread: {},
      missing: [],
      link: `/__sim/#/sessions/${session}?in=1`,
    });
    expect((await ask("GET", "recordings/nobody")).status).toBe(404);
  });
});
