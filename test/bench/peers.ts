import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { installed } from "./install.ts";
import { command } from "./machine.ts";
import { launch, type Server, serverOf, spawnServer } from "./server.ts";

/** A server that answers POST /capture/ and remembers the requests. */
interface Recorder {
  readonly server: Server;
  /** Asks it for the captures of a user. @returns how many it has */
  count(user: string): Promise<number>;
}

export interface Peer {
  readonly name: string;
  /** What the peer needs before its time counts. @throws Error with the reason if it cannot be had */
  install(): Promise<void>;
  /** @throws Error with the reason if it does not start */
  start(folder: string): Promise<Recorder>;
}

const answer = '{"status":1}';
const key = "phc_bench000000000000000000000000000000000000000";

/** The text of a successful answer. */
async function ask(url: string, body?: string, headers?: Record<string, string>): Promise<string> {
  const init = body === undefined ? {} : { method: "POST", body };
  const response = await fetch(url, { ...init, headers: { "content-type": "application/json", ...headers } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A server that does not listen after this time has hung. */
const patience = 60_000;

/** Resolves once the process listens. @throws Error with what it wrote to stderr if it does not */
async function spawned(program: string, args: readonly string[], port: number) {
  const child = spawnServer(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-300);
  });
  let failure: string | undefined;
  child.once("error", () => {
    failure = `${program} is not installed`;
  });
  child.once("exit", (code) => {
    failure ??= `ended with ${code}: ${complaint.trim()}`;
  });
  const latest = performance.now() + patience;
  while (!(await accepts(port))) {
    if (performance.now() > latest) child.kill("SIGKILL");
    if (failure !== undefined) throw new Error(failure);
    await pause(10);
  }
  return child;
}

/** A program from npm. */
interface Program {
  readonly name: string;
  /** Name and version. */
  readonly spec: string;
  /** If it is not Node. */
  readonly runtime?: string;
  /** Its arguments; `home` is the package's folder. */
  args(home: string, folder: string, port: number): readonly string[];
  /** Makes it answer and remember captures. @returns their port if it is another one */
  prepare?(url: string): Promise<number>;
  /** How many captures of a user it has; `port` is the captures' own. */
  count(url: string, user: string, port: number): Promise<number>;
}

function peerOf({ name, spec, runtime, args, prepare, count }: Program): Peer {
  const home = `phx-bench/peers/${name}`;
  return {
    name: `${name} ${spec.slice(spec.lastIndexOf("@") + 1)}`,
    install: async () => {
      await installed(home, spec);
    },
    async start(folder) {
      const port = await freePort();
      const own = command("anywhere", args(await installed(home, spec), folder, port), runtime);
      const child = await spawned(...own, port);
      const url = `http://127.0.0.1:${port}`;
      const captures = (await prepare?.(url)) ?? port;
      return {
        server: serverOf(child, `http://127.0.0.1:${captures}`, key),
        count: (user) => count(url, user, captures),
      };
    },
  };
}

/** One that is here already. */
const ready = (name: string, program: "sim" | "recording", path: (user: string) => string): Peer => ({
  name,
  install: async () => {},
  async start(folder) {
    const server = await launch(program, folder, false);
    return {
      server,
      async count(user) {
        const found = JSON.parse(await ask(`${server.url}${path(user)}`)) as number | { events: unknown[] };
        return typeof found === "number" ? found : found.events.length;
      },
    };
  },
});

const adminToken = "bench";

/** An environment of Mockoon with one route. */
const mockoonEnvironment = {
  ...{ uuid: "b7b2c8a0-0000-4000-8000-000000000001", lastMigration: 33, name: "bench", port: 3000 },
  ...{ hostname: "127.0.0.1", endpointPrefix: "", latency: 0, proxyMode: false, cors: false },
  routes: [
    {
      ...{ uuid: "b7b2c8a0-0000-4000-8000-000000000002", type: "http", method: "post", endpoint: "capture" },
      responses: [
        {
          ...{ uuid: "b7b2c8a0-0000-4000-8000-000000000003", body: answer, bodyType: "INLINE", statusCode: 200 },
          headers: [{ key: "content-type", value: "application/json" }],
          ...{ disableTemplating: true, default: true },
        },
      ],
    },
  ],
  rootChildren: [{ type: "route", uuid: "b7b2c8a0-0000-4000-8000-000000000002" }],
};

/** True if the text of a request's body is a capture of a user. */
const isOf = (body: string, user: string): boolean => body.includes(`"distinct_id":"${user}"`);

export const sim = ready("phx-sim", "sim", (user) => `/__sim/events?event=needle&distinct_id=${user}&limit=10`);
export const mockttp = ready("mockttp", "recording", (user) => `/found?user=${user}`);

export const wiremock = peerOf({
  name: "wiremock",
  spec: "wiremock@3.13.2",
  runtime: "java",
  args: (home, folder, port) => [
    ...["-jar", join(home, "build/wiremock-standalone-3.13.2.jar"), "--port", String(port)],
    ...["--bind-address", "127.0.0.1", "--root-dir", folder, "--use-chunked-encoding", "never"],
  ],
  async prepare(url) {
    const stub = {
      request: { method: "POST", urlPath: "/capture/" },
      response: { status: 200, headers: { "content-type": "application/json" }, body: answer },
    };
    await ask(`${url}/__admin/mappings`, JSON.stringify(stub));
    return Number(new URL(url).port);
  },
  async count(url, user) {
    const bodyPatterns = [{ matchesJsonPath: `$[?(@.distinct_id == '${user}')]` }];
    const pattern = { method: "POST", urlPath: "/capture/", bodyPatterns };
    return JSON.parse(await ask(`${url}/__admin/requests/find`, JSON.stringify(pattern))).requests.length;
  },
});

export const mountebank = peerOf({
  name: "mountebank",
  spec: "mountebank@2.9.1",
  args: (home, folder, port) => [
    ...[join(home, "bin/mb"), "start", "--port", String(port), "--localOnly", "--nologfile"],
    ...["--loglevel", "error", "--pidfile", join(folder, "mb.pid")],
  ],
  async prepare(url) {
    const headers = { "content-type": "application/json", "content-length": "12", connection: "keep-alive" };
    const stubs = [{ responses: [{ is: { statusCode: 200, headers, body: answer } }] }];
    const imposter = { protocol: "http", host: "127.0.0.1", recordRequests: true, stubs };
    return JSON.parse(await ask(`${url}/imposters`, JSON.stringify(imposter))).port;
  },
  async count(url, user, port) {
    const { requests } = JSON.parse(await ask(`${url}/imposters/${port}`)) as { requests: { body: string }[] };
    return requests.filter((it) => isOf(it.body, user)).length;
  },
});

const mockoon = peerOf({
  name: "mockoon",
  spec: "@mockoon/cli@9.9.0",
  args(home, folder, port) {
    const file = join(folder, "environment.json");
    writeFileSync(file, JSON.stringify(mockoonEnvironment));
    return [
      ...[join(home, "bin/run.js"), "start", "--repair", "--data", file, "--port", String(port)],
      ...["--disable-log-to-file", "--max-transaction-logs", "1000000", "--admin-api-token", adminToken],
    ];
  },
  async count(url, user) {
    const authorization = `Bearer ${adminToken}`;
    const logs = await ask(`${url}/mockoon-admin/logs?limit=1000000`, undefined, { authorization });
    const all = JSON.parse(logs) as { request: { body: string } }[];
    return all.filter((it) => isOf(it.request.body, user)).length;
  },
});

const jsonServer = peerOf({
  name: "json-server",
  spec: "json-server@0.17.4",
  args(home, folder, port) {
    const file = join(folder, "db.json");
    writeFileSync(file, '{"capture":[]}');
    return [join(home, "lib/cli/bin.js"), "--quiet", "--host", "127.0.0.1", "--port", String(port), file];
  },
  count: async (url, user) => JSON.parse(await ask(`${url}/capture?distinct_id=${user}`)).length,
});

/** In the order of the table. */
export const peers: readonly Peer[] = [sim, wiremock, mountebank, mockttp, mockoon, jsonServer];
