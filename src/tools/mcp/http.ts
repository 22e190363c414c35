import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { SimError } from "../../kernel/base/errors.ts";
import { type JsonObject, objectIn } from "../../kernel/base/json.ts";
import { callBy } from "../../kernel/call/call.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Call } from "../../kernel/http/call.ts";
import { invalid } from "../../kernel/http/control-body.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { createMcpServer } from "./server.ts";
import type { McpPorts, ToolPorts } from "./tool.ts";

/** The answer is always JSON, also for clients that ask for nothing. */
const accepted = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const versionHeader = "mcp-protocol-version";

/** The tools of the sim that answers. Who may call it may not start programs on this machine. */
function portsOf({ send, redaction }: McpPorts): ToolPorts {
  const sim = async () => ({ call: callBy(send) });
  return {
    redaction,
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

/** A message that the protocol does not have, as the control API reports it. */
function refusal(text: string): SimError {
  const message = objectIn(JSON.parse(text), "error").message;
  const hint = "send one message of the Model Context Protocol, e.g. of the method tools/list";
  return invalid(typeof message === "string" ? message : "this is no message of the protocol", "", hint);
}

/** Answers one message of the Streamable HTTP transport, without a session. */
export async function answerMcp(call: Call, body: JsonObject, ports: McpPorts): Promise<Reply> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(portsOf(ports));
  const leave = () => void server.close();
  call.signal.addEventListener("abort", leave, { once: true });
  try {
    await server.connect(transport);
    const version = call.headers[versionHeader];
    const headers = { ...accepted, ...(version !== undefined && { [versionHeader]: version }) };
    const request = new Request("http://localhost/__sim/mcp", { method: "POST", headers, body: "{}" });
    const response = await transport.handleRequest(request, { parsedBody: body });
    const text = await response.text();
    if (response.status >= 400) throw refusal(text);
    return { status: response.status, headers: [...response.headers].flat(), body: text === "" ? null : text };
  } finally {
    call.signal.removeEventListener("abort", leave);
    await server.close();
  }
}
