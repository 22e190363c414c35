import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { findRunning, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { untilSignal } from "../../kernel/command/signals.ts";
import { simOptions } from "../../sim/command/open-sim.ts";

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
  const [{ createMcpServer }, { StdioServerTransport }, { createOwnSim }] = await Promise.all([
    import("./server.ts"),
    import("@modelcontextprotocol/sdk/server/stdio.js"),
    import("./own-sim.ts"),
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
