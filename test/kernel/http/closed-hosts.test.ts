import { createServer, request } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterEach, expect, test } from "vitest";
import { closedCode, closedLookup } from "../../../src/kernel/http/closed-hosts.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  "metadata.test": ["127.0.0.1", "169.254.169.254"],
  "own.test": ["127.0.0.1"],
};

const find: LookupFunction = (host, { all }, done) => {
  const found = (names[host] ?? []).map((address) => ({ address, family: 4 }));
  const [first] = found;
  if (!first) done(Object.assign(new Error(host), { code: "ENOTFOUND" }), "", 0);
  else if (all) done(null, found);
  else done(null, first.address, first.family);
};

const server = createServer((_, res) => res.end("here"));
afterEach(() => server.close());

test("a name that leads to a link-local address is not connected to", async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lookup = closedLookup(find);
  const ask = (host: string) =>
    new Promise<string>((resolve) => {
      const sent = request({ host, port, lookup, agent: false }, (response) => resolve(String(response.statusCode)));
      sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)).end();
    });
  expect(await ask("own.test")).toBe("200");
  expect(await ask("metadata.test")).toBe(closedCode);
  expect(await ask("nothing.test")).toBe("ENOTFOUND");
});
