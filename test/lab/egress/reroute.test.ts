import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { dirname, join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { rerouteProcess, rerouteTest } from "../../../src/lab/egress/reroute.ts";
import { rerouteChildren, trustEnv } from "../../../src/lab/egress/reroute-children.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();
const certFile = join(folder, "ca.pem");
const certificate = "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n";
writeFileSync(certFile, certificate);

let sim: Sim;
beforeAll(async () => {
  sim = await startSim({ proxy: { caFolder: join(folder, "ca") } });
});
afterAll(() => sim.close());
beforeEach(() => sim.reset());

describe("which places are rerouted", () => {
  test.each([
    ["us.i.posthog.com", "443", true],
    ["POSTHOG.com.", "80", true],
    ["posthog.com.evil.test", "443", false],
    ["e.shop.test", "443", true],
    ["shop.test", "443", false],
    ["api.test", "8443", true],
    ["api.test", "443", false],
    ["localhost", "443", false],
    ["127.0.0.1", "443", false],
  ])("%s:%s: %s", (host, port, expected) => {
    expect(rerouteTest({ hosts: ["*.shop.test", "api.test:8443"] })({ host, port })).toBe(expected);
  });

  test("every host but this machine", () => {
    const isRerouted = rerouteTest({ hosts: ["*"] });
    expect([isRerouted({ host: "a.test", port: "1" }), isRerouted({ host: "::1", port: "1" })]).toEqual([true, false]);
  });

  test.each([
    ["a b", /"a b" is not a host/],
    ["", /is not a host/],
    ["shop.test/ingest", /"shop\.test\/ingest" has a path/],
  ])("%j is refused", (host, message) => {
    expect(() => rerouteTest({ hosts: [host] })).toThrow(message);
  });
});

describe("Node children", () => {
  const run = (code: string, module: boolean): Promise<{ stdout: string; stderr: string }> => {
    const { env } = rerouteChildren({ url: sim.url, hosts: ["e.shop.test"], certFile: undefined, env: {} });
    const args = [`--input-type=${module ? "module" : "commonjs"}`, "--eval", code];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { env: { ...env, KEY: sim.apiKey } }, (_error, stdout, stderr) =>
        resolve({ stdout, stderr }),
      );
    });
  };
  const body = `const body = JSON.stringify({ api_key: process.env.KEY, event: "e", distinct_id: "u" });
    const headers = { "content-type": "application/json" };`;
  const print = `(response) => { console.log(response.statusCode); response.resume(); }`;
  const byFetch = `${body} fetch("https://us.i.posthog.com/capture/", { method: "POST", headers, body })
    .then((response) => console.log(response.status), (error) => console.log(String(error.cause)));`;
  const raw = `"POST /capture/ HTTP/1.1\\r\\nhost: us.i.posthog.com\\r\\ncontent-type: application/json\\r\\nconnection: close\\r\\ncontent-length: " + body.length + "\\r\\n\\r\\n" + body`;
  const readRaw = `socket.on("data", (data) => console.log(String(data).slice(9, 12))).on("error", (error) => console.log(String(error)));`;

  test.each<[string, string, module?: boolean]>([
    ["fetch", byFetch],
    ["fetch of a Request", byFetch.replace("fetch(", "((...it) => fetch(new Request(...it)))(")],
    ["fetch of another host", byFetch.replace("us.i.posthog.com", "e.shop.test")],
    [
      "fetch whose dispatcher was replaced",
      `fetch("data:,").then(() => {
         const name = Symbol.for("undici.globalDispatcher.1");
         const { [name]: first } = globalThis;
         // An agent; from Node 26 on, a wrapper of one.
         const value = first.constructor.name === "Agent" ? new first.constructor() : new first.constructor(first);
         Object.defineProperty(globalThis, name, { value, writable: true });
         ${byFetch} });`,
    ],
    [
      "https.request, an address",
      `${body} require("https").request("https://eu.i.posthog.com/capture/", { method: "POST", headers }, ${print}).end(body);`,
    ],
    [
      "https.request, options and an agent",
      `${body} const https = require("https"); const agent = new https.Agent({ keepAlive: false });
       https.request({ host: "us.posthog.com", port: 443, path: "/capture/", method: "POST", headers, agent }, ${print}).end(body);`,
    ],
    [
      "http.request",
      `${body} require("http").request("http://us.i.posthog.com/capture/", { method: "POST", headers }, ${print}).end(body);`,
    ],
    [
      "names imported from a module",
      `import { request } from "node:https"; import { connect } from "node:tls"; ${body}
       const socket = connect({ host: "us.i.posthog.com", port: 443 }, () => socket.write(${raw})); ${readRaw}`,
      true,
    ],
    [
      "tls.connect, by port and host",
      `${body} const socket = require("tls").connect(443, "us.i.posthog.com", {}, () => socket.write(${raw})); ${readRaw}`,
    ],
    [
      "tls.connect, by port and options",
      `${body} const socket = require("tls").connect(443, { host: "us.i.posthog.com" }, () => socket.write(${raw})); ${readRaw}`,
    ],
    [
      "tls.connect to an address that was looked up",
      `${body} const socket = require("tls").connect({ host: "192.0.2.1", port: 443, servername: "us.i.posthog.com" }, () => socket.write(${raw})); ${readRaw}`,
    ],
    [
      "tls.connect over an open socket",
      `${body} const { hostname, port } = new URL(JSON.parse(process.env.PHX_SIM_REROUTE_RULES).url);
       const tunnel = require("net").connect(port, hostname, () => {
         const socket = require("tls").connect({ socket: tunnel, servername: "us.i.posthog.com" }, () => socket.write(${raw})); ${readRaw}
       });`,
    ],
    [
      "http2",
      `${body} const session = require("http2").connect("https://us.i.posthog.com");
       const stream = session.request({ ...headers, ":method": "POST", ":path": "/capture/" });
       stream.on("response", (answer) => { console.log(answer[":status"]); session.close(); }).end(body);`,
    ],
    ["a worker thread", `new (require("worker_threads").Worker)(${JSON.stringify(byFetch)}, { eval: true });`],
    [
      "a child of the child",
      `require("child_process").execFileSync(process.execPath, ["--eval", ${JSON.stringify(byFetch)}], { stdio: "inherit" });`,
    ],
  ])("%s", async (_what, code, module = false) => {
    expect(await run(code, module)).toEqual({ stdout: "200\n", stderr: "" });
    expect(await sim.events.list()).toMatchObject([{ event: "e", distinct_id: "u" }]);
  });

  test("what is on this machine is reached as before", async () => {
    const { stdout } = await run(
      `const server = require("http").createServer((_, response) => response.end("mine")).listen(0, "127.0.0.1", async () => {
         console.log(await (await fetch("http://127.0.0.1:" + server.address().port)).text()); server.close(); server.closeAllConnections(); });`,
      false,
    );
    expect(stdout).toBe("mine\n");
  });
});

test("in this process, until it ends", async () => {
  const before = [tls.connect, net.Socket.prototype.connect];
  const end = rerouteProcess({ url: sim.url });
  const answer = await fetch("https://us.i.posthog.com/flags/?v=2", { method: "POST", body: "{}" });
  expect([answer.status, answer.url]).toEqual([401, "https://us.i.posthog.com/flags/?v=2"]);
  end();
  expect([tls.connect, net.Socket.prototype.connect]).toEqual(before);
});

describe("the environment", () => {
  const url = "http://127.0.0.1:7490";

  test("names the sim as proxy, exempts this machine, and trusts", () => {
    const { env, byProxy, notes } = rerouteChildren({ url, certFile, env: { no_proxy: "a.test" } });
    expect(env).toMatchObject({
      HTTPS_PROXY: url,
      http_proxy: url,
      NO_PROXY: "a.test,127.0.0.1,localhost,::1",
      NODE_EXTRA_CA_CERTS: certFile,
      NODE_OPTIONS: expect.stringContaining("preload.cjs"),
    });
    expect([byProxy, notes]).toEqual([true, []]);
  });

  test.each([
    ["a proxy that is set already", { certFile, env: { https_proxy: "http://x.test" } }, /^https_proxy is set/],
    ["a sim that is no proxy", { certFile: undefined, env: {} }, /--no-proxy/],
  ])("%s: only Node is rerouted, with a note", (_what, options, note) => {
    const { env, byProxy, notes } = rerouteChildren({ url, ...options });
    expect(Object.keys(env).sort()).toEqual(["NODE_OPTIONS", "PHX_SIM_REROUTE_RULES"]);
    expect([byProxy, notes]).toEqual([false, [expect.stringMatching(note)]]);
  });

  test("other hosts get a note: certificates are not good for them", () => {
    const { byProxy, notes } = rerouteChildren({ url, hosts: ["e.shop.test"], certFile, env: {} });
    expect([byProxy, notes]).toEqual([true, [expect.stringMatching(/^e\.shop\.test: only Node/)]]);
  });
});

describe("trust", () => {
  test("bundles hold the system's authorities and ours", () => {
    const env = trustEnv(certFile, {});
    expect(env.NODE_EXTRA_CA_CERTS).toBe(certFile);
    const bundle = readFileSync(env.SSL_CERT_FILE ?? "", "utf8");
    expect(bundle.endsWith(`\n${certificate}`)).toBe(true);
    expect(bundle.split("BEGIN CERTIFICATE").length).toBeGreaterThan(20);
    expect([env.REQUESTS_CA_BUNDLE, env.CURL_CA_BUNDLE]).toEqual([env.SSL_CERT_FILE, env.SSL_CERT_FILE]);
    expect(trustEnv(certFile, {})).toEqual(env);
  });

  test.each(["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])(
    "what %s names already stays trusted",
    (name) => {
      const theirs = join(folder, "theirs.pem");
      writeFileSync(theirs, "theirs\n");
      const file = trustEnv(certFile, { [name]: theirs })[name] ?? "";
      expect(dirname(file)).toBe(folder);
      expect(readFileSync(file, "utf8")).toBe(`theirs\n${certificate}`);
    },
  );

  test("a file that does not exist names no authority", () => {
    const nowhere = join(folder, "nowhere.pem");
    expect(trustEnv(certFile, { NODE_EXTRA_CA_CERTS: nowhere, SSL_CERT_FILE: nowhere })).toEqual(
      trustEnv(certFile, {}),
    );
  });

  test("without our certificate there is none", () => {
    expect(() => trustEnv(join(folder, "gone", "ca.pem"), {})).toThrow(/ENOENT/);
  });
});
