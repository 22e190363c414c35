import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { RequestInFull } from "../../../ui/api/requests.ts";
import { requestCurl, requestFetch } from "../../../ui/views/requests/copies.ts";
import { requestOf } from "./request.ts";

interface Got {
  method: string | undefined;
  /** Decoded: `fetch` encodes more than others. */
  target: string;
  headers: Record<string, unknown>;
  body: string;
}

/** What a server gets when this is run against it. */
async function gotBy(run: (url: string) => Promise<unknown>): Promise<Got> {
  let tell: (got: Got) => void = () => {};
  const promise = new Promise<Got>((resolve) => {
    tell = resolve;
  });
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (it: Buffer) => chunks.push(it));
    req.on("end", () => {
      const { method, url: target, headers } = req;
      tell({ method, target: decodeURIComponent(target ?? ""), headers, body: Buffer.concat(chunks).toString() });
      res.end("ok");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return await promise;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const nasty = `@it's $(touch x) \`y\` "q" \\ \u202e\n`;

const rows: readonly (readonly [string, Partial<RequestInFull>, Partial<Got>])[] = [
  ["a GET", { method: "GET", target: "/flags/?v=2&x='a" }, { method: "GET", target: "/flags/?v=2&x='a", body: "" }],
  ["hostile JSON", { body: { [nasty]: nasty } }, { method: "POST", body: JSON.stringify({ [nasty]: nasty }) }],
  ["text that looks like a file", { raw: { text: "@/etc/hostname" } }, { body: "@/etc/hostname" }],
  ["another method", { method: "DELETE", target: "/api/x" }, { method: "DELETE", target: "/api/x" }],
];

const parsed = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const sameAs = (got: Got, expected: Partial<Got>): void => {
  expect(parsed(got.body)).toEqual(parsed(expected.body ?? got.body));
  expect(got).toMatchObject({ ...expected, body: got.body });
};

describe("what is copied, run", () => {
  test.each(rows)("curl: %s", async (_, over, expected) => {
    const got = await gotBy((url) => promisify(execFile)("sh", ["-c", `${requestCurl(requestOf(over), url)} -s`]));
    sameAs(got, expected);
  });

  test.each(rows)("fetch: %s", async (_, over, expected) => {
    const got = await gotBy((url) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", requestFetch(requestOf(over), url)]),
    );
    sameAs(got, expected);
  });
});

describe("what is left out", () => {
  const both = (over: Partial<RequestInFull>) =>
    [requestCurl, requestFetch].map((it) => it(requestOf(over), "http://h"));

  test("masked headers, and it says so", () => {
    for (const text of both({ headers: [["Authorization", "Bearer phx_***"]] })) {
      expect(text).toMatch(/^(#|\/\/) the header Authorization is left out: its secret is masked\n/);
      expect(text).not.toContain("phx_");
    }
  });

  test("bodies that are no text, or were not kept", () => {
    for (const text of both({ raw: { base64: "H4sAEQ==" } })) expect(text).toContain("the body is left out: 4 bytes");
    for (const text of both({ raw: { omitted: "too_large", bytes: 5_000_000 } }))
      expect(text).toContain("the body is left out: 5000000 bytes");
  });

  test("how the bytes were packed, as the copy is unpacked; and the connection's own headers", () => {
    const headers = [
      ["Host", "a"],
      ["Content-Encoding", "gzip"],
      ["Content-Type", "text/plain"],
      ["X-Mine", "b"],
    ] as const;
    for (const text of both({ headers, body: { a: 1 } })) {
      expect(text).not.toMatch(/gzip|text\/plain|Host/);
      expect(text).toMatch(/X-Mine/);
      expect(text).toMatch(/application\/json/);
    }
  });

  test("masked keys in the body are reported", () => {
    for (const text of both({ body: { key: "phx_***" } })) expect(text).toContain("keys in the body are masked");
  });

  test("a header's name cannot begin a line of its own", () => {
    for (const text of both({ headers: [["x\nrm -rf", "***"]] })) expect(text.split("\n")[0]).toContain("xrm-rf");
  });
});
