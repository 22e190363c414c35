import { orderedCheck } from "../check/command.ts";
import { clean, cleanLines } from "../cli/clean-text.ts";
import type { Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import { closesWithin, startFailure } from "../cli/open-sim.ts";
import type { Running } from "../cli/running-sim.ts";
import { callBy, sendOverNetwork } from "../client/call.ts";
import { type SimServer, StartError } from "../sim/types.ts";
import type { FoundSim, ToolPorts } from "./tool.ts";

const closeMs = 1500;

/**
 * The sim of a server on stdin and stdout: the running one, as client commands find it, else one in this process that
 * the tool `start` has started. It ends with the server.
 * @param data Folder of a sim that is started
 */
export function createOwnSim(
  find: () => Promise<Running>,
  data: string,
  shell: Shell,
): ToolPorts & { close(): Promise<void> } {
  let own: Promise<SimServer> | undefined;

  async function sim(): Promise<FoundSim> {
    if (own) return { call: callBy((await own).send) };
    const { url, token } = await find();
    return { call: callBy(sendOverNetwork(url, { token })) };
  }

  async function start({ scenario, port = 7490 }: Parameters<ToolPorts["start"]>[0]): Promise<FoundSim> {
    const found = await sim().catch((error: unknown) => {
      if (error instanceof Failure && error.kind === "no_sim") return undefined;
      throw error;
    });
    if (found) return found;
    own = openOwn({ port, data, ...(scenario !== undefined && { scenario }) }, shell);
    try {
      return { call: callBy((await own).send), isNew: true };
    } catch (error) {
      own = undefined;
      throw error;
    }
  }

  return {
    sim,
    start,
    check: (order, call) =>
      orderedCheck(order, shell, {
        signal: call.signal,
        onProgress(text) {
          shell.err.say(`phx-sim: ${clean(text)}`);
          call.onProgress(text);
        },
      }),
    async close() {
      const opened = await own?.catch(() => undefined);
      if (opened) await closesWithin(opened, closeMs);
    },
  };
}

async function openOwn(
  options: { port: number; data: string; scenario?: string },
  shell: Shell,
): Promise<SimServer> {
  const { runSim } = await import("../sim.ts");
  const onNotice = (text: string) => shell.err.say(...cleanLines(`phx-sim: ${text}`, 4000));
  try {
    return await runSim({ ...options, proxy: {}, onNotice });
  } catch (error) {
    throw error instanceof StartError ? await startFailure(error, options) : error;
  }
}
