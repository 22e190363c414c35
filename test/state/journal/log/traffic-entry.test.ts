import { expect, test } from "vitest";
import { entryWriter, type GivenReply } from "../../../../src/state/journal/log/traffic-entry.ts";

const call = {
  method: "POST",
  target: "/batch/",
  rawHeaders: ["Host", "sim.test"],
  body: Buffer.alloc(0),
  peer: "127.0.0.1",
  at: 1,
  started: 0,
};

const usual = ["content-type", "application/json", "x-phx-source", "emulator"];
const html = ["content-type", "text/html"];

/** What a line says of an answer. */
const reported = (reply: GivenReply): object => JSON.parse(`{${entryWriter()(call, reply, {}).tail.slice(1)}}`);

test.each<[string, GivenReply, object]>([
  // most lines of a journal are captures: they are not made longer
  ["the usual headers", { status: 200, headers: [...usual], body: "{}" }, { reply: {} }],
  [
    "one more",
    { status: 405, headers: [...usual, "allow", "POST"], body: null },
    { reply_headers: [...usual, "allow", "POST"], reply: null },
  ],
  [
    "no text, whatever its type says",
    { status: 200, headers: html, body: Buffer.from([0xff, 0xfe]) },
    { reply_headers: html, reply: { omitted: "not_text", bytes: 2 } },
  ],
  ["text in bytes", { status: 200, headers: html, body: Buffer.from("<p>ü") }, { reply_headers: html, reply: "<p>ü" }],
])("an answer with %s", (_, reply, line) => {
  expect(reported(reply)).toEqual({ headers: call.rawHeaders, ...line });
});

test("an answer that another user gave took until it was over, not until it is written down", () => {
  const passed = { ...call, started: 100, ended: 114.5 };
  expect(entryWriter()(passed, { status: 200, headers: usual, body: "{}" }, {}).ms).toBe(14.5);
});

test.each([
  ["the public key of a project", "Authorization", "Bearer phc_abc-1", "Bearer phc_abc-1"],
  ["a personal key", "Authorization", "Bearer phx_abc", "Bearer phx_***"],
  ["a secret that only begins like a project key", "authorization", "Bearer phc_a.b", "Bearer phc_***"],
  ["a word without a scheme", "X-Api-Key", "horse", "***"],
])("%s in a header", (_, name, value, kept) => {
  const { tail } = entryWriter()({ ...call, rawHeaders: [name, value] }, { status: 200, headers: usual, body: "" }, {});
  expect(JSON.parse(`{${tail.slice(1)}}`)).toMatchObject({ headers: [name, kept] });
});
