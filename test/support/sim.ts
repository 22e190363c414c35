import { test as vitest } from "vitest";
import type { Sim, SimOptions } from "../../src/index.ts";
import { newFolder } from "./folder.ts";
import { closeAtEnd } from "./opened.ts";

async function start(options?: SimOptions): Promise<Sim> {
  const { startSim } = await import("../../src/index.ts");
  return startSim(options);
}

/** Calls of a sim without a socket. */
function callsOf(sim: Sim) {
  const get = (path: string, init?: RequestInit): Promise<Response> => sim.handle(new Request(sim.url + path, init));
  /** Sends text as it is, and anything else as JSON. */
  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    get(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    });
  /** Captures events in one request, in the project of the sim or of `key`. */
  const capture = (
    events: object | readonly object[],
    { key = sim.apiKey, ...init }: RequestInit & { key?: string } = {},
  ): Promise<Response> => post("/batch/", { api_key: key, batch: [events].flat() }, init);
  return { get, post, capture };
}

/** A sim that the tests of a file share, closed after them: `const { sim, capture } = await openSim({ scenario });`. */
export async function openSim(options?: SimOptions): Promise<{ sim: Sim } & ReturnType<typeof callsOf>> {
  const sim = await start(options);
  closeAtEnd(() => sim.close());
  return { sim, ...callsOf(sim) };
}

/**
 * What a test has for itself, made if the test names it: `test("…", async ({ sim, capture, cli }) => …)`. `cli` runs a
 * command in `folder`. `test.override("options", { scenario })` sets the sim's options.
 */
export const test = vitest
  .extend("options", (): SimOptions => ({}))
  .extend("sim", async ({ options }, { onCleanup }) => {
    const sim = await start(options);
    onCleanup(() => sim.close());
    return sim;
  })
  .extend("project", ({ sim }) => sim.project())
  .extend("get", ({ sim }) => callsOf(sim).get)
  .extend("post", ({ sim }) => callsOf(sim).post)
  .extend("capture", ({ sim }) => callsOf(sim).capture)
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from this pattern
  .extend("folder", ({}) => newFolder())
  .extend("cli", async ({ folder }) => {
    const { runHere } = await import("./phx-sim.ts");
    return (...args: string[]) => runHere(args, { cwd: folder });
  });
