import { test as vitest } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { newFolder } from "./folder.ts";
import { closeAtEnd } from "./opened.ts";

type Send = RequestInit & { key?: string };

/** Ways to call a sim without a socket. */
function callsOf(sim: Sim) {
  const call = (path: string, init?: RequestInit): Promise<Response> =>
    sim.handle(new Request(sim.url + path, init));
  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    call(path, {
      method: "POST",
      body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    });
  return {
    get: call,
    /** Sends text and bytes as they are, and anything else as JSON. */
    post,
    /** Captures events in one request, in the project of the sim or of `key`. */
    capture: (events: object | readonly object[], { key = sim.apiKey, ...init }: Send = {}) =>
      post("/batch/", { api_key: key, batch: [events].flat() }, init),
  };
}

/** A sim that the tests of a file share, closed after them: `const { sim, capture } = await openSim();`. */
export async function openSim(options?: SimOptions): Promise<{ sim: Sim } & ReturnType<typeof callsOf>> {
  const sim = await startSim(options);
  closeAtEnd(() => sim.close());
  return { sim, ...callsOf(sim) };
}

/**
 * What a test has for itself, made when it names it: `test("…", async ({ sim, capture }) => …)`. Options of the sim:
 * `test.override("options", { scenario })`.
 */
export const test = vitest
  .extend("options", (): SimOptions => ({}))
  .extend("sim", async ({ options }, { onCleanup }) => {
    const sim = await startSim(options);
    onCleanup(() => sim.close());
    return sim;
  })
  .extend("project", ({ sim }) => sim.project())
  .extend("get", ({ sim }) => callsOf(sim).get)
  .extend("post", ({ sim }) => callsOf(sim).post)
  .extend("capture", ({ sim }) => callsOf(sim).capture)
  .extend("folder", newFolder)
  /** Runs a command in the folder of the test: `cli("events", "list")`. */
  .extend("cli", async ({ folder }) => {
    const { runHere } = await import("./phx-sim.ts");
    return (...args: string[]) => runHere(args, { cwd: folder });
  });
