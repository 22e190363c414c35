import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { JsonObject } from "../base/json.ts";
import { Failure } from "../cli/failure.ts";
import { callBy, type Send } from "../client/call.ts";
import type { Call } from "../http/call.ts";
import type { Reply } from "../http/reply.ts";
import { createMcpServer } from "./server.ts";
import type { ToolPorts } from "./tool.ts";

/** Headers that the protocol reads; the others were judged by the control API. */
const passed = ["accept", "content-type", "mcp-protocol-version"];

/** The tools of the sim that answers. Who may call it may not start programs on this machine. */
function portsOf(send: Send): ToolPorts {
  const sim = async () => ({ call: callBy(send) });
  return {
    sim,
    start: sim,
    async check() {
      throw new Failure(
        "usage",
        "check opens a browser and starts programs, which a sim does not do for its callers; run phx-sim check --json, or use phx-sim mcp",
      );
    },
  };
}

/** Answers one message of the Streamable HTTP transport, without a session. */
export async function answerMcp(call: Call, body: JsonObject, send: Send): Promise<Reply> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(portsOf(send));
  const leave = () => void server.close();
  call.signal.addEventListener("abort", leave, { once: true });
  try {
    await server.connect(transport);
    const headers = passed.flatMap((name): [string, string][] => {
      const value = call.headers[name];
      return value === undefined ? [] : [[name, value]];
    });
    const request = new Request("http://localhost/__sim/mcp", { method: "POST", headers, body: "{}" });
    const response = await transport.handleRequest(request, { parsedBody: body });
    const text = await response.text();
    return {
      status: response.status,
      headers: [...response.headers].flat(),
      body: text === "" ? null : text,
    };
  } finally {
    call.signal.removeEventListener("abort", leave);
    await server.close();
  }
}
