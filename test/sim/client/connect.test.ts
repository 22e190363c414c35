import http, { createServer, type RequestListener } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import { ControlError, connectSim, type SimClient, startSim, version } from "../../../src/index.ts";
import { test } from "../../support/sim.ts";
import { capture } from "./ends.ts";

beforeEach(() => {
  vi.stubEnv("PHX_SIM_URL", undefined);
  vi.stubEnv("PHX_SIM_TOKEN", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A server that is no sim. */
async function server(listener: RequestListener) {
  const it = createServer(listener);
  await new Promise<void>((resolve) => {
    it.listen(0, "127.0.0.1", resolve);
  });
  const { port } = it.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      it.closeAllConnections();
      await new Promise((resolve) => {
        it.close(resolve);
      });
    },
  };
}

const json = (body: unknown, status = 200): RequestListener => {
  return (_, answer) => {
    answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
};

async function failure(connecting: Promise<unknown>): Promise<ControlError> {
  const error = await connecting.then(
    () => new Error("it connected"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ControlError) return error;
  throw error;
}

test.each([
  ["undefined", undefined, "connectSim() was given no address, and PHX_SIM_URL is not set"],
  ["an empty text", "", "connectSim() was given no address, and PHX_SIM_URL is not set"],
  ["no scheme", "localhost:7490", '"localhost:7490" is not the address of a sim'],
  ["another scheme", "ftp://a.b", '"ftp://a.b" is not the address of a sim'],
  ["no address at all", "a sim", '"a sim" is not the address of a sim'],
])("an address that is none: %s", async (_, url, detail) => {
  const error = await failure(connectSim(url));
  expect(error).toMatchObject({ code: "no_sim", status: 0, body: { detail } });
  expect(error.message).toMatch(/phx-sim start|http:\/\/127\.0\.0\.1:7490/);
});

test.each([
  ["its sockets", {}],
  ["fetch", { fetch }],
])("nothing listens: what, where and what to do, by %s", async (_, options) => {
  const { url, ...gone } = await server(json({}));
  await gone[Symbol.asyncDispose]();
  const error = await failure(connectSim(url, options));
  expect(error.message).toBe(
    `no_sim: nothing answers at ${url} (ECONNREFUSED) (start one with \`phx-sim start\`, or run the command below \`phx-sim exec -- …\`)`,
  );
  expect(error.cause).toBeInstanceOf(Error);
});

const [major] = version.split(".");
test.each<[string, RequestListener, string, RegExp]>([
  ["a page", (_, answer) => answer.end("<html>"), "not_a_sim", /another program than phx-sim .*HTTP 200/],
  ["not found", json({ detail: "no" }, 404), "not_a_sim", /another program .*HTTP 404/],
  ["other JSON", json({ name: "another" }), "not_a_sim", /is not that of phx-sim/],
  ["no object", json([]), "not_a_sim", /is not that of phx-sim/],
  ["a redirect", (_, answer) => answer.writeHead(302, { location: "/" }).end(), "not_a_sim", /HTTP 302/],
  [
    "another major version",
    json({ name: "phx-sim", version: "99.1.0" }),
    "other_version",
    new RegExp(`is version 99\\.1\\.0, this is ${version}`),
  ],
  ["an answer that is cut off", (_, answer) => answer.destroy(), "no_sim", /nothing answers at .*ECONNRESET/],
])("something else answers: %s", async (_, listener, code, text) => {
  await using it = await server(listener);
  for (const options of [{}, { fetch }]) {
    const error = await failure(connectSim(it.url, options));
    expect(error).toMatchObject({ code, status: 0 });
    // fetch has words of its own for what the socket says
    if (code !== "no_sim") expect(error.message).toMatch(text);
  }
  expect((await failure(connectSim(it.url))).message).toMatch(text);
});

test("a sim of another minor version is fine", async () => {
  await using it = await server(json({ name: "phx-sim", version: `${major}.999.0` }));
  expect(await connectSim(it.url)).toMatchObject({ url: it.url, apiKey: "", projectId: 0 });
});

test("PHX_SIM_URL is the default, and a path behind the address does not matter", async ({ sim }) => {
  vi.stubEnv("PHX_SIM_URL", sim.inspectorUrl);
  const { close: _, ...client } = await connectSim();
  expect(client).toMatchObject({ url: sim.url, host: sim.url, apiKey: sim.apiKey });
});

describe("a sim that is open to the network", () => {
  test.each([
    ["no token", undefined, "needs its control token"],
    ["another token", "wrong-one-of-16-characters", "has another control token"],
  ])("%s", async (_, token, text) => {
    await using sim = await startSim({ host: "0.0.0.0" });
    const error = await failure(connectSim(sim.url, token === undefined ? {} : { token }));
    expect(error).toMatchObject({ code: "control_token_required" });
    expect(error.message).toContain(text);
    expect(error.message).toContain("PHX_SIM_TOKEN");
  });

  test.each([["option"], ["variable"]])("its token as %s", async (way) => {
    await using sim = await startSim({ host: "0.0.0.0" });
    const token = sim.controlToken ?? "";
    if (way === "variable") vi.stubEnv("PHX_SIM_TOKEN", token);
    const client = await connectSim(sim.url, way === "option" ? { token } : {});
    await client.flags.set("a", true, { force: true });
    expect(await client.flags.unset("a")).toBe(1);
  });
});

test("a test tool that replaces Node's own connections has no effect", async ({ sim }) => {
  const refuse = () => {
    throw new Error("refused");
  };
  vi.spyOn(http, "request").mockImplementation(refuse);
  vi.spyOn(Socket.prototype, "connect").mockImplementation(refuse);
  await using client = await connectSim(sim.url);
  expect(await client.events.list()).toEqual([]);
});

test("whatever a test made of fetch, the client reaches its sim", async ({ sim }) => {
  await capture(sim, "a");
  vi.stubGlobal("fetch", () => Promise.reject(new Error("stubbed")));
  vi.useFakeTimers();
  try {
    const client = await connectSim(sim.url);
    expect(await client.events.waitFor("a")).toMatchObject({ seq: 1 });
  } finally {
    vi.useRealTimers();
  }
});

test("a fetch of one's own carries every call, and its end", async ({ sim }) => {
  const asked: string[] = [];
  const client = await connectSim(sim.url, {
    fetch(url, init) {
      asked.push(`${init.method} ${new URL(url).pathname}`);
      return fetch(url, init);
    },
  });
  await capture(sim, "a");
  expect(await client.events.waitFor("a")).toMatchObject({ seq: 1 });
  const iterator = client.events.stream()[Symbol.asyncIterator]();
  const pending = iterator.next();
  await client.events.clear();
  await iterator.return?.();
  expect(await pending).toMatchObject({ done: true });
  expect(asked).toEqual(expect.arrayContaining(["GET /__sim/info", "POST /__sim/events/wait", "DELETE /__sim/events"]));
});

test("closing the handle closes nothing", async ({ sim }) => {
  {
    await using client = await connectSim(sim.url);
    await client.close();
    expect(await client.info()).toMatchObject({ name: "phx-sim", in_flight: 0 });
  }
  expect(await sim.info()).toMatchObject({ url: sim.url });
});

test("a sim that is gone says so", async () => {
  const sim = await startSim();
  const client = await connectSim(sim.url);
  await sim.close();
  await expect(client.info()).rejects.toMatchObject({ code: "no_sim", status: 0 });
  await expect(sim.info()).rejects.toMatchObject({ code: "sim_closed", status: 0 });
});

const patient = { timeoutMs: 60_000 };
const pendings = {
  wait: ({ events }: SimClient) => [
    events.waitFor("a", undefined, patient),
    events.waitFor("a", { plan: () => false }, patient),
    events.verify({ expect: [{ match: { event: "a" } }] }, patient),
  ],
  settle: ({ settle }: SimClient) => [settle({ idleMs: 60_000, ...patient })],
  stream: ({ events }: SimClient) => [events.stream({ since: 0 })[Symbol.asyncIterator]().next()],
};

test.each(["wait", "settle", "stream"] as const)("closing a sim ends a pending %s at once", async (what) => {
  const sim = await startSim();
  const client = await connectSim(sim.url);
  const pending = [sim, client].flatMap<Promise<unknown>>((it) => pendings[what](it));
  const ended = Promise.allSettled(pending);
  // they are on their way before this one is answered
  await Promise.all([sim.info(), client.info()]);
  await sim.close();
  for (const result of await ended) {
    expect(result.status).toBe("rejected");
    if (result.status === "rejected") expect(result.reason).toBeInstanceOf(ControlError);
  }
});
