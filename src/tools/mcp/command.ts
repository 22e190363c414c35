import { callBy, sendOverNetwork } from "../../kernel/call/call.ts";
import { clean, cleanLines } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { kinds } from "../../kernel/command/options.ts";
import { findRunning, type Running, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { untilSignal } from "../../kernel/command/signals.ts";
import { closesWithin, simOptions, startFailure } from "../../sim/command/open-sim.ts";
import { type SimServer, StartError } from "../../sim/types.ts";
import { orderedCheck } from "../check/command.ts";
import type { FoundSim, ToolPorts } from "./tool.ts";

const options = {
  ...whereOptions,
  scenario: simOptions.scenario,
  port: { kind: "port", describe: "Port of a sim that the tool start starts", configurable: true, default: "7490" },
} as const;

export const mcp = command({
  name: "mcp",
  describe: "Serve tools for coding agents over the Model Context Protocol, on stdin and stdout",
  options,
  examples: [
    ["phx-sim mcp", "for a client's settings; phx-sim init --agents writes .mcp.json"],
    ["phx-sim mcp --url http://127.0.0.1:7490", "with the tools of this sim"],
  ],
  run,
});

/** stdout has the protocol's messages only; everything else goes to stderr. */
async function run(settings: Settings<typeof options>, shell: Shell): Promise<CommandEnd> {
  const signal = untilSignal(process, shell.quit);
  const [{ createMcpServer }, { StdioServerTransport }] = await Promise.all([
    import("./server.ts"),
    import("@modelcontextprotocol/sdk/server/stdio.js"),
  ]);
  const own = createOwnSim(() => findRunning(settings, shell), settings.values, shell);
  const server = createMcpServer(own);
  server.onerror = ({ message }) => shell.err.say(`phx-sim: a message on stdin was left out: ${clean(message)}`);
  const closed = new Promise<"ok">((resolve) => {
    process.stdin.once("end", () => resolve("ok"));
    process.stdin.once("close", () => resolve("ok"));
    process.stdout.once("error", () => resolve("ok"));
  });
  await server.connect(new StdioServerTransport());
  try {
    return await Promise.race([closed, signal]);
  } finally {
    await server.close();
    await own.close();
  }
}

const closeMs = 1500;

/** Options of a sim that the tool `start` starts. */
interface OwnOptions {
  readonly port: number;
  readonly data: string;
  readonly scenario: string;
}

/**
 * The sim of a server on stdin and stdout: the running one, as client commands find it, else one in this process that
 * the tool `start` has started. It ends with the server.
 * @param usual Of a sim that is started, if the tool names nothing else
 */
function createOwnSim(
  find: () => Promise<Running>,
  usual: OwnOptions,
  shell: Shell,
): ToolPorts & { close(): Promise<void> } {
  let own: Promise<SimServer> | undefined;

  async function sim(): Promise<FoundSim> {
    if (own) return { call: callBy((await own).send) };
    const { url, token } = await find();
    return { call: callBy(sendOverNetwork(url, { token })) };
  }

  async function start({ scenario, port = usual.port }: Parameters<ToolPorts["start"]>[0]): Promise<FoundSim> {
    const found = await sim().catch((error: unknown) => {
      if (error instanceof Failure && error.kind === "no_sim") return undefined;
      throw error;
    });
    if (found) return found;
    const named = scenario === undefined ? usual.scenario : kinds.scenario.read(scenario, shell.cwd);
    own = openOwn({ port, data: usual.data, scenario: named ?? usual.scenario }, shell);
    try {
      return { call: callBy((await own).send), isNew: true };
    } catch (error) {
      own = undefined;
      throw error;
    }
  }

  return {
    redaction: shell.config?.redaction,
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

async function openOwn({ port, data, scenario }: OwnOptions, shell: Shell): Promise<SimServer> {
  const options = { port, data, scenario };
  const { runSim } = await import("../../sim/sim.ts");
  const onNotice = (text: string) => shell.err.say(...cleanLines(`phx-sim: ${text}`, 4000));
  try {
    return await runSim({ ...options, proxy: {}, onNotice });
  } catch (error) {
    throw error instanceof StartError ? await startFailure(error, options) : error;
  }
}
