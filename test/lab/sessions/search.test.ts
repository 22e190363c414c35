import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import type { RecordingFindings, StoredRecording, StoredRecordingPage } from "../../../src/lab/sessions/shapes.ts";
import { newFolder } from "../../support/folder.ts";
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
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
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
  data: { source: 0, texts: packed([]), attributes: packed([]), removes: packed([]), adds: packed([]), ...data },
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
  "an inline style": () => [opening(element("body", { style: `--who: "${mail}"` })), ["1 style html > body style"]],
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
      [...opening(element("body", {}, element("form", { id: "pay" }, input))), typedIn(input, mail, start + 9)],
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
        mutation({ attributes: packed([{ id: link.id ?? 0, attributes: { href: "/u?m=jane%40acme.test" } }]) }),
      ],
      ["1 attribute html > body > a href"],
    ];
  },
  "a changed style": () => {
    const link = element("a");
    const attributes = { style: { content: [`"${mail}"`, "important"] } };
    return [
      [...opening(element("body", {}, link)), mutation({ attributes: packed([{ id: link.id ?? 0, attributes }]) })],
      ["1 style html > body > a style.content[0]"],
    ];
  },
  "an inserted rule": () => [
    [
      ...opening(element("body")),
      { type: 3, timestamp: start + 9, data: { source: 8, adds: packed([{ rule: `a { content: "${mail}" }` }]) } },
    ],
    ["1 style - adds[0].rule"],
  ],
  "the body of a request": () => [
    [
      plugin("rrweb/network@1", {
        requests: [{ name: "http://shop.test/pay", requestBody: JSON.stringify({ note: `"${mail}"`, at: 1 }) }],
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
    [{ type: 5, timestamp: start, data: { tag: "$pageview", payload: { href: `http://shop.test/?m=${mail}` } } }],
    ["1 custom - payload.href"],
  ],
  "the address of the page": () => [
    [{ type: 4, timestamp: start, data: { href: "http://shop.test/#jane&#64;acme.test", width: 1, height: 1 } }],
    ["1 page - href"],
  ],
  "a wireframe of a mobile app": () => [
    [{ type: 2, timestamp: start, data: { wireframes: [{ type: "text", text: mail }] } }],
    ["1 text - wireframes[0].text"],
  ],
  "texts side by side": () => [
    opening(element("body", {}, element("p", {}, "jane@", "acme", ".test"))),
    ["1 text html > body > p -"],
  ],
  "texts with a comment between them": () => [
    opening(element("body", {}, element("p", {}, "to jane@", { type: 5, id: 900_001, textContent: " " }, "acme.test"))),
    ["1 text html > body > p -"],
  ],
  "elements in a line of text": () => [
    opening(
      element(
        "body",
        {},
        element("p", {}, element("a", {}, element("b", {}, "jane"), "@"), element("span", {}, "acme"), ".test"),
      ),
    ),
    ["1 text html > body > p > a > b -"],
  ],
  "a text that is added beside another one": () => {
    const line = element("p", {}, "jane@");
    const node = { type: 3, id: 900_002, textContent: "acme.test" };
    return [
      [
        ...opening(element("body", {}, line)),
        mutation({ adds: packed([{ parentId: line.id ?? 0, nextId: null, node }]) }),
      ],
      ["1 text html > body > p -"],
    ];
  },
  "texts that are added before others, in any order": () => {
    const line = element("p", {}, ".test");
    const [last = {}] = line.childNodes as JsonObject[];
    const text = (id: number, textContent: string): JsonObject => ({ type: 3, id, textContent });
    const adds = [
      { parentId: line.id ?? 0, nextId: 900_004, node: text(900_003, "jane@") },
      { parentId: line.id ?? 0, nextId: last.id ?? 0, node: text(900_004, "acme") },
    ];
    return [[...opening(element("body", {}, line)), mutation({ adds: packed(adds) })], ["1 text html > body > p -"]];
  },
  "a text that is changed beside another one": () => {
    const line = element("p", {}, "jane@", "…");
    const [, { id } = { id: 0 }] = line.childNodes as JsonObject[];
    return [
      [...opening(element("body", {}, line)), mutation({ texts: packed([{ id, value: "acme.test" }]) })],
      ["1 text html > body > p -"],
    ];
  },
  "texts between which an element is removed": () => {
    const image = element("img");
    const line = element("p", {}, "jane@", image, "acme.test");
    return [
      [
        ...opening(element("body", {}, line)),
        mutation({ removes: packed([{ parentId: line.id ?? 0, id: image.id ?? 0 }]) }),
      ],
      ["1 text html > body > p -"],
    ];
  },
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

  test.each(["4242424242424242", "4242-4242-4242-4242", "4242.4242 4242\u00a04242", "pay=4242+4242+4242+4242&x=1"])(
    "finds a number with other separators: %s",
    async (text) => {
      await sendPart(sim, opening(element("body", {}, text)));
      expect(placesOf(await search("none", card))).toEqual(["2 text html > body -"]);
    },
  );

  test.each([
    ["texts of two paragraphs", element("body", {}, element("p", {}, "jane@"), element("p", {}, "acme.test"))],
    ["texts with an image between them", element("body", {}, "jane@", element("img"), "acme.test")],
    ["texts of two style sheets", element("body", {}, element("style", {}, "/* jane@", "acme.test */"))],
  ])("does not join %s", async (_, body) => {
    await sendPart(sim, opening(body));
    expect(await search(mail)).toMatchObject({ finds: [], verdict: "none", complete: true, undecided: [] });
  });

  test.each([
    ["a line break", "Jane\n      Miller", "Jane Miller"],
    ["a blank that does not break", "Jane\u00a0Miller", "Jane Miller"],
    ["a line break in the value", "Jane Miller", "Jane\nMiller"],
    ["a letter in two characters", "Jose\u0301 Ruiz", "Jos\u00e9 Ruiz"],
    ["a letter in one character", "Jos\u00e9 Ruiz", "Jose\u0301 Ruiz"],
    ["a soft hyphen", "jane@ac\u00adme.test", mail],
    ["a character without width", "jane\u200b@acme.test", mail],
    ["wide letters", "\uff4aane@acme.test", mail],
    ["an account in groups", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"],
    ["an account without groups", "DE89370400440532013000", "DE89 3704 0044 0532 0130 00"],
    ["other dashes", "4242\u20134242\u20134242\u20134242", card],
    ["a login in a header", `Basic ${Buffer.from("jane:open sesame").toString("base64")}`, "open sesame"],
    ["JSON in base64", Buffer.from(JSON.stringify({ mail })).toString("base64"), mail],
    ["gzip in base64", gzipSync(JSON.stringify({ mail })).toString("base64"), mail],
    ["marks of the direction", "jane\u200e@\u202aacme\u202c.test", mail],
    ["dots in the middle", "4242\u00b74242\u00b74242\u00b74242", card],
  ])("a value is found as a page shows it: %s", async (_, written, value) => {
    await sendPart(sim, opening(element("body", {}, element("p", {}, written))));
    expect((await search(value)).finds).toHaveLength(1);
  });

  test.each([
    ["another name", "Jane\n Millers", "Jane Miller,"],
    ["a longer account", "DE89 3704 0044 0532 0130 00", "DE8937040044053201300"],
    ["words of letters", "JaneMillerJaneMillerJaneMiller", "Jane Miller"],
  ])("near, and not the value: %s", async (_, written, value) => {
    await sendPart(sim, opening(element("body", {}, element("p", {}, written))));
    expect(await search(value)).toMatchObject({ finds: [], verdict: "none" });
  });

  test.each([
    ["in a list of pictures", { srcset: "a.png 1x, data:image/png;base64,iVBORw0KGgo= 2x" }],
    ["in upper case", { src: "DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=" }],
    ["behind a blank", { src: " data:image/png;base64,iVBORw0KGgo=" }],
    ["without a type", { src: "data:;base64,iVBORw0KGgo=" }],
    ["in markup", { srcdoc: "<img src=data:image/png;base64,iVBORw0KGgo=>" }],
    ["in a set of a style", { style: 'background: image-set("data:image/png;base64,iVBORw0KGgo=" 1x)' }],
  ])("a picture as data %s is not read", async (_, attributes) => {
    await sendPart(sim, opening(element("body", {}, element("img", attributes))));
    expect(await search(mail)).toMatchObject({ verdict: "undecided", unread: { image: 1 } });
  });

  test.each([
    ["changes of a page", [typedIn({ id: 7 }, "Pay", start)], {}],
    ["an address only", [{ type: 4, timestamp: start, data: { href: "http://shop.test/" } }], {}],
    ["no events", [], {}],
    ["a snapshot without nodes", [{ type: 2, timestamp: start, data: {} }], {}],
    ["another window", [typedIn({ id: 7 }, "Pay", start)], { $window_id: "w2" }],
  ])("%s without the full snapshot is undecided", async (_, items, more) => {
    if ("$window_id" in more) await sendPart(sim, opening(element("body", {}, "Pay")));
    await sendPart(sim, items, more);
    expect(await search(mail)).toMatchObject({
      verdict: "undecided",
      undecided: [`session ${session}: window: no_page (the full snapshot of its page has not arrived)`],
    });
  });

  test("digits that are split over elements of a line are a number", async () => {
    const digits = card.split(" ").map((it) => element("span", {}, it));
    await sendPart(sim, opening(element("body", {}, element("p", {}, ...digits))));
    expect(placesOf(await search(card))).toEqual(["1 text html > body > p > span -"]);
  });

  test("a value in one text is found once, also where others are beside it", async () => {
    await sendPart(sim, opening(element("body", {}, "for ", mail, element("b", {}, " today"))));
    expect((await search(mail)).finds).toMatchObject([{ place: "text", count: 1 }]);
  });

  test("a line of many texts is read in pieces that overlap", async () => {
    const texts = Array.from({ length: 3_000 }, (_, i) => `word ${i} in a long line of text, `);
    await sendPart(sim, opening(element("body", {}, ...texts, "jane@", "acme", ".test", ...texts)));
    expect(placesOf(await search(mail))).toEqual(["1 text html > body -"]);
  });

  test("nodes with the same id, or inside themselves, end the search", async () => {
    const node = { type: 2, id: 7, tagName: "b", attributes: {}, childNodes: [{ type: 3, id: 7, textContent: mail }] };
    const adds = packed([
      { parentId: 7, nextId: 7, node: { type: 2, id: 7, tagName: "b", attributes: {}, childNodes: [] } },
      { parentId: 8, nextId: 7, node: { type: 3, id: 9, textContent: "x" } },
    ]);
    await sendPart(sim, [
      ...opening(element("body", {}, node)),
      mutation({ adds, removes: packed([{ id: 7 }, { id: 7 }]) }),
    ]);
    expect((await search(mail)).finds).toHaveLength(1);
  });

  test("an image in a style is not read, and an SVG is", async () => {
    const url = (type: string, data: string) => `background: url("data:image/${type},${data}")`;
    await sendPart(
      sim,
      opening(
        element("body", { style: url("png;base64", "AAAA") }, element("p", { style: url("svg+xml;utf8", "<svg/>") })),
      ),
    );
    expect((await search(mail)).unread).toEqual({ image: 1 });
  });

  test("older parts that were removed from the journal make it undecided, in their project only", async () => {
    await using small = await startSim({ keep: "1MB" });
    await sendPart(small, opening(element("body", {}, mail)));
    await using other = await small.project();
    const filler = opening(element("body", {}, randomBytes(300_000).toString("base64")));
    for (let i = 0; i < 8; i++)
      await sendPart({ apiKey: other.apiKey, url: small.url, handle: (it) => small.handle(it) }, filler);
    expect(await small.recordings.search([mail])).toMatchObject({ finds: [], verdict: "undecided", complete: false });
    expect(await other.recordings.search([mail])).toMatchObject({ verdict: "undecided" });
    await using fresh = await small.project();
    await sendPart(
      { apiKey: fresh.apiKey, url: small.url, handle: (it) => small.handle(it) },
      opening(element("body", {}, "Hello")),
    );
    expect(await fresh.recordings.search([mail])).toMatchObject({ verdict: "none", complete: true });
  });

  test("a damaged line of the journal makes it undecided", async () => {
    const data = newFolder();
    const first = await startSim({ data });
    await sendPart(first, opening(element("body", {}, mail)));
    await sendPart(first, opening(element("body", {}, "Hello")));
    await first.close();
    const file = join(data, "traffic.ndjson");
    writeFileSync(file, readFileSync(file, "utf8").replace('"$snapshot"', '"#snapshot"'));
    await using again = await startSim({ data });
    expect(await again.recordings.search([mail])).toMatchObject({ finds: [], verdict: "undecided", complete: false });
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
    const { unread, missing, verdict, complete, undecided } = await search(mail);
    expect(unread).toEqual({ image: 1, canvas: 2, screenshot: 1, frame: 1 });
    expect({ verdict, complete }).toEqual({ verdict: "undecided", complete: false });
    expect(undecided).toEqual([
      "canvas ×2: a drawing on a canvas cannot be read as text",
      "image: a picture as data cannot be read as text",
      "screenshot: a screenshot of a mobile app cannot be read as text",
      `session ${session}, event 1: adds of a mutation: bad_gzip (the compressed bytes are damaged)`,
    ]);
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
