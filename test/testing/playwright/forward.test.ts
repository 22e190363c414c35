import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { forward, type ToForward } from "../../../src/lab/egress/browser-traffic.ts";

type Handle = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

async function openServer(handle: Handle) {
  const server = createServer(async (request, response) =>
    handle(request, response, Buffer.concat(await request.toArray())),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/e/?a=1`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const post = (url: URL, rest: Partial<ToForward> = {}) =>
  forward({ url, method: "POST", headers: {}, body: null, signal: new AbortController().signal, ...rest });

describe("a request is forwarded", () => {
  test("byte for byte, with its headers, but not those of its connection", async () => {
    let came: { method?: string | undefined; url?: string | undefined; headers: object; body: Buffer } | undefined;
    await using server = await openServer(({ method, url, headers }, response, body) => {
      came = { method, url, headers, body };
      response.end();
    });
    const body = Buffer.from([0x1f, 0x8b, 0, 255, 254]);
    const headers = { origin: "https://shop.test", host: "us.i.posthog.com", "accept-encoding": "br", ":path": "/" };
    await post(server.url, { body, headers: { ...headers, "content-length": "99", connection: "close" } });
    expect(came).toMatchObject({ method: "POST", url: "/e/?a=1", body });
    expect(came?.headers).toEqual({
      origin: "https://shop.test",
      host: server.url.host,
      "accept-encoding": "identity",
      "content-length": "5",
      connection: expect.any(String),
    });
  });

  test("and its answer comes back as it is, redirects too", async () => {
    await using server = await openServer((_request, response) =>
      response
        .writeHead(302, { location: "https://elsewhere.test/", "set-cookie": ["a=1", "b=2"], "x-a": "b" })
        .end("moved"),
    );
    const { headers, ...answer } = await post(server.url);
    expect(answer).toEqual({ status: 302, body: Buffer.from("moved") });
    expect(headers).toMatchObject({ location: "https://elsewhere.test/", "set-cookie": "a=1\nb=2", "x-a": "b" });
    expect(Object.keys(headers)).not.toContain("transfer-encoding");
  });
});

describe("it fails", () => {
  test("where no one listens", async () => {
    const server = await openServer(() => {});
    await server[Symbol.asyncDispose]();
    await expect(post(server.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test.each<[string, Handle]>([
    ["before the answer", (request) => request.socket.destroy()],
    [
      "within the answer",
      (request, response) =>
        response.writeHead(200, { "content-length": 9 }).write("half", () => request.socket.destroy()),
    ],
  ])("when the connection ends %s", async (_when, handle) => {
    await using server = await openServer(handle);
    await expect(post(server.url)).rejects.toThrow(/hang up|aborted/);
  });

  test("when it is given up", async () => {
    const ending = new AbortController();
    await using server = await openServer(() => ending.abort());
    await expect(post(server.url, { signal: ending.signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
  });
});
