import { z } from "zod";
import type { Send } from "../client/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { row } from "../http/row.ts";

export interface McpPorts {
  /** Makes calls to this sim itself. */
  readonly send: Send;
}

const Message = z
  .looseObject({ jsonrpc: z.literal("2.0"), method: z.string().optional() })
  .describe("A message of the Model Context Protocol");

/** The tools for coding agents over HTTP: a message each, without sessions. */
export const mcpRows = ({ send }: McpPorts): Endpoint[] => [
  row({
    method: "POST",
    path: "/__sim/mcp",
    access: "control",
    summary: "Serves the tools for coding agents over the Model Context Protocol (Streamable HTTP)",
    body: Message,
    replies: {
      200: { description: "The answer to a request", type: "application/json" },
      202: { description: "A notification was taken" },
    },
    errors: [406],
    async handle({ call, body }) {
      const { answerMcp } = await import("./http.ts");
      return answerMcp(call, JSON.parse(JSON.stringify(body)), send);
    },
  }),
];
