import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { text } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { McpPorts } from "./tool.ts";

const Message = z
  .looseObject({ jsonrpc: z.literal("2.0"), method: z.string().optional() })
  .describe("A message of the Model Context Protocol");

const Answer = z.looseObject({ jsonrpc: z.literal("2.0") });

/** The tools for coding agents over HTTP: a message each, without sessions. */
export const mcpSlice = slice(["send", "redaction"], (ports: McpPorts) => [
  row({
    method: "POST",
    path: "/__sim/mcp",
    access: "control",
    summary: "Serves the tools for coding agents over the Model Context Protocol (Streamable HTTP)",
    body: Message,
    replies: {
      200: { description: "The answer to a request", shape: Answer },
      202: { description: "A notification was taken" },
    },
    async handle({ call, body }) {
      const { answerMcp } = await import("./http.ts");
      return answerMcp(call, JSON.parse(JSON.stringify(body)), ports);
    },
  }),
]);

/** The summary for language models: in `docs`, which is above this file in the package and in the repository. */
function summaryFile(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, "docs", "llms.txt");
    if (existsSync(file)) return file;
    if (dirname(folder) === folder)
      throw new SimError("not_found", "docs/llms.txt is missing", { hint: "install phx-sim again" });
  }
}

/** It holds no data of the sim, as the page's files. */
export const llmsSlice = slice([], () => [
  row({
    method: "GET",
    path: "/__sim/llms.txt",
    access: "page",
    summary: "Returns a short description of phx-sim for language models",
    replies: { 200: { description: "The text", type: "text/plain" } },
    handle: async () => text(await readFile(summaryFile(), "utf8")),
  }),
]);
