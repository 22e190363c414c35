import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { builtFile } from "../../../src/kernel/base/built-file.ts";
import {
  type ChildGuard,
  type ChildGuardOptions,
  nodeOptions,
  openGuard,
} from "../../../src/lab/egress/child-guard.ts";

const simUrl = "http://127.0.0.1:7490";
const host = "us.i.posthog.com";
const folder = mkdtempSync(join(tmpdir(), "phx guard "));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let guards: ChildGuard[] = [];
afterEach(async () => {
  await Promise.all(guards.map((it) => it.close()));
  guards = [];
});
async function guarded(options: Partial<ChildGuardOptions> = {}): Promise<ChildGuard> {
  const it = await openGuard({ url: simUrl, env: {}, ...options });
  guards.push(it);
  return it;
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
/** Only what is needed to find programs: a proxy of this machine must not be in the way. */
const bareEnv = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
const run = (file: string, args: string[], env: Record<string, string>): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(file, args, { env: { ...bareEnv, ...env } }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
const node = (code: string, env: Record<string, string>, ...args: string[]) =>
  run(process.execPath, [...args, "--eval", code], env);

/** Prints what a call fails with. */
const reach = `fetch("https://${host}/batch/", { method: "POST" }).then(() => "answered", (error) => error.cause?.message ?? String(error)).then(console.log)`;

describe("Node children", () => {
  test.each<[string, () => Promise<Ended> | string, string]>([
    ["a script", () => reach, "POST"],
    [
      "a worker thread",
      () => `new (require("node:worker_threads").Worker)(${JSON.stringify(reach)}, { eval: true })`,
      "POST",
    ],
    [
      "a child of the child",
      () =>
        `require("node:child_process").execFileSync(process.execPath, ["--eval", ${JSON.stringify(reach)}], { stdio: "inherit" })`,
      "POST",
    ],
    [
      "https.get",
      () => `require("node:https").get("https://${host}/flags/").on("error", (error) => console.log(error.message))`,
      "GET",
    ],
  ])("%s", async (_what, code, method) => {
    const it = await guarded();
    const { stdout, stderr } = await node(String(code()), it.env);
    expect(stderr).toBe("");
    expect(stdout).toContain(`blocked: ${method} https://${host}/`);
    expect(stdout).toContain(`point the SDK's host at ${simUrl}`);
    expect(await it.calls()).toMatchObject([{ method, host, stack: expect.stringMatching(/\n? +at /) }]);
  });

  test("a process that exits at once has left its call", async () => {
    const it = await guarded();
    await node(`require("node:net").connect(443, "${host}").on("error", () => {}); process.exit(3)`, it.env);
    expect(await it.calls()).toMatchObject([{ method: null, url: `${host}:443` }]);
  });

  test("own hosts, allowed hosts", async () => {
    const it = await guarded({ hosts: ["shop.test/ingest"], allow: [host] });
    const { stdout } = await node(reach.replace(host, "shop.test/ingest"), it.env);
    expect(stdout).toContain("blocked: POST https://shop.test/ingest/batch/");
  });

  test("options that already exist stay", async () => {
    const first = join(folder, "first one.cjs");
    writeFileSync(first, 'globalThis.first = "first was here";');
    const it = await guarded({ env: { NODE_OPTIONS: `--require "${first}"` } });
    const { stdout } = await node(`console.log(globalThis.first); ${reach}`, it.env);
    expect(stdout).toMatch(/^first was here\nblocked: /);
  });

  test("a package in a folder with an odd name", async () => {
    const copy = join(folder, 'node_modules"s', "phx sim 100%\\");
    const built = builtFile("lab/egress/preload.cjs");
    cpSync(built, join(copy, "dist/preload.cjs"));
    const it = await guarded();
    const env = { ...it.env, NODE_OPTIONS: nodeOptions("--no-warnings", join(copy, "dist/preload.cjs")) };
    expect((await node(reach, env)).stdout).toContain("blocked: POST");
    expect(await it.calls()).toHaveLength(1);
  });

  test("after the end calls stay known, and late children are no trouble", async () => {
    const it = await guarded();
    await node(reach, it.env);
    await it.close();
    await it.close();
    const late = await node(reach, it.env);
    expect(late.stdout).toContain("blocked: POST");
    expect(await it.calls()).toHaveLength(1);
  });
});

describe("other programs", () => {
  let target: Server;
  let targetUrl: string;
  beforeAll(async () => {
    target = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      response.writeHead(201, { "x-many": ["a", "b"], "keep-alive": "timeout=5" });
      response.end(`${request.method} ${request.url} ${request.headers["x-given"]} ${body}`);
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    target.closeAllConnections();
    target.close();
  });

  /** Says this to the proxy, and returns all that comes back until the end. */
  async function say(it: ChildGuard, text: string, halves = false): Promise<string> {
    const socket = connect(Number(new URL(it.env.HTTP_PROXY ?? "").port), "127.0.0.1");
    if (halves) socket.end(text);
    else socket.write(text);
    return (await socket.toArray()).join("");
  }

  test.each<[string, string, RegExp]>([
    [
      "a guarded host, absolute",
      `POST http://${host}/e/?token=phx_secretsecret HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      /^HTTP\/1.1 403 [\s\S]*blocked: POST http:\/\/us\.i\.posthog\.com\/e\/\?token=phx_\*\*\* \(phx-sim guard\): point/,
    ],
    [
      "a guarded host, by a tunnel",
      `CONNECT ${host}:443 HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      /^HTTP\/1.1 403 Forbidden\r\n[\s\S]*blocked: CONNECT us\.i\.posthog\.com:443/,
    ],
    [
      "no proxy request",
      "GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      /^HTTP\/1.1 400 [\s\S]*this is a proxy/,
    ],
    ["an odd tunnel", "CONNECT shop HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1.1 400 [\s\S]*host:port/],
    ["a port too high", "CONNECT shop.test:70000 HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1.1 400 /],
    [
      "a host that does not exist",
      "GET http://127.0.0.1:1/ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      /^HTTP\/1.1 502 [\s\S]*cannot be reached/,
    ],
    [
      "a tunnel to nowhere",
      "CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: a\r\n\r\n",
      /^HTTP\/1.1 502 [\s\S]*cannot be reached/,
    ],
    ["no HTTP", "\x16\x03\x01 hello\r\n\r\n", /^$/],
  ])("%s", async (what, text, answer) => {
    const it = await guarded();
    expect(await say(it, text)).toMatch(answer);
    expect(await it.calls()).toMatchObject(what.startsWith("a guarded") ? [{ host, stack: "" }] : []);
  });

  test("other hosts are passed on to, absolute", async () => {
    const it = await guarded();
    const answer = await say(
      it,
      `PUT ${targetUrl}/a?b=1 HTTP/1.1\r\nhost: a\r\nx-given: 7\r\nproxy-authorization: x\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 201 /);
    expect(answer).toContain("x-many: a\r\nx-many: b\r\n");
    expect(answer).toContain("PUT /a?b=1 7 body");
  });

  test("other hosts are passed on to, by a tunnel whose halves end one by one", async () => {
    const echo = createTcpServer({ allowHalfOpen: true }, (socket) => {
      const all: Buffer[] = [];
      socket.on("data", (chunk: Buffer) => all.push(chunk));
      socket.on("end", () => socket.end(`you said ${Buffer.concat(all)}`));
    }).listen(0, "127.0.0.1");
    await once(echo, "listening");
    const it = await guarded();
    const { port } = echo.address() as AddressInfo;
    const answer = await say(it, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: a\r\n\r\nhello`, true);
    expect(answer).toBe("HTTP/1.1 200 Connection Established\r\n\r\nyou said hello");
    echo.close();
    await once(echo, "close");
  });

  test("closing ends tunnels that are open", async () => {
    const silent = createTcpServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const it = await guarded();
    const socket = connect(Number(new URL(it.env.HTTP_PROXY ?? "").port), "127.0.0.1");
    socket.write(`CONNECT 127.0.0.1:${(silent.address() as AddressInfo).port} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await once(socket, "data");
    const gone = once(socket, "close");
    await it.close();
    await expect(gone).resolves.toEqual([false]);
    silent.close();
    await once(silent, "close");
  });

  const programs: [name: string, file: string, args: (url: string) => string[]][] = [
    ["curl", "curl", (url) => ["-sS", "-X", "POST", url]],
    [
      "Python",
      "python3",
      (url) => [
        "-c",
        `import urllib.request, sys\ntry: print(urllib.request.urlopen("${url}").read().decode())\nexcept Exception as e: sys.exit(str(e))`,
      ],
    ],
  ];
  describe.each(programs)("%s", (_name, file, args) => {
    test("does not reach the service", async ({ skip }) => {
      if ((await run(file, ["--version"], {})).code !== 0) skip(`${file} is not on this machine`);
      const it = await guarded();
      const [http, https] = [
        await run(file, args(`http://${host}/e/`), it.env),
        await run(file, args(`https://${host}/e/`), it.env),
      ];
      expect(http.stdout + http.stderr).toMatch(/blocked: POST|403/);
      expect(https.stderr).toMatch(/403/);
      expect((await it.calls()).map(({ url }) => url)).toEqual([`http://${host}/e/`, `${host}:443`]);
    });

    test("reaches the sim", async ({ skip }) => {
      if ((await run(file, ["--version"], {})).code !== 0) skip(`${file} is not on this machine`);
      const it = await guarded();
      expect((await run(file, args(`${targetUrl}/e/`), it.env)).stdout).toMatch(/^(POST|GET) \/e\//);
      expect(await it.calls()).toEqual([]);
    });
  });
});

describe("the environment", () => {
  test("names the proxy in both spellings, and exempts this machine", async () => {
    const { env, notes } = await guarded({ env: { NO_PROXY: "intern.test, localhost" } });
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(env).toMatchObject({
      HTTP_PROXY: url,
      http_proxy: url,
      HTTPS_PROXY: url,
      https_proxy: url,
      ALL_PROXY: url,
      all_proxy: url,
      NO_PROXY: "intern.test,localhost,127.0.0.1,::1",
      no_proxy: "intern.test,localhost,127.0.0.1,::1",
    });
    expect(notes).toEqual([]);
  });

  test.each(["HTTPS_PROXY", "all_proxy"])("a proxy that is set already (%s) stays, with a note", async (name) => {
    const { env, notes } = await guarded({ env: { [name]: "http://proxy.test:8080" } });
    expect(Object.keys(env).sort()).toEqual(["NODE_OPTIONS", "PHX_SIM_EGRESS_LOG", "PHX_SIM_EGRESS_RULES"]);
    expect(notes).toEqual([
      `${name} is set and left as it is: only Node processes are guarded, other programs are not.`,
    ]);
  });

  test("a host that is none is refused", async () => {
    await expect(guarded({ hosts: ["a b"] })).rejects.toThrow(/"a b" is not a host/);
  });
});
