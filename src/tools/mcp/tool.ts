import { z } from "zod";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { ControlCall, Send } from "../../kernel/call/call.ts";
import type { TapeRules } from "../../lab/tapes/redact/rules.ts";
import type { CheckOrder } from "../check/command.ts";
import type { CheckReport } from "../check/shapes.ts";

/** How a tool call ends early, and what it reports meanwhile. */
export interface ToolCall {
  /** Ends when the client cancels the call. */
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export interface FoundSim {
  readonly call: ControlCall;
  /** True if this process has just started it. */
  readonly isNew?: boolean;
}

export interface ToolPorts {
  /** The running sim. @throws Failure, ControlError no_sim */
  sim(): Promise<FoundSim>;
  /** The running sim, else a new one. @throws Failure start */
  start(order: { scenario?: string | undefined; port?: number | undefined }): Promise<FoundSim>;
  /** Redaction rules of the project, over the built-in ones. */
  readonly redaction?: TapeRules | undefined;
  /** @throws Failure */
  check(order: CheckOrder, call: ToolCall): Promise<CheckReport>;
}

/** Captured data. It is only shown inside the marked block. */
export interface CapturedRow {
  readonly data: Json;
  /** What phx-sim recommends for it, shown outside the block; equal ones once. */
  readonly advice?: string;
}

export const adviceOf = (it: { readonly code: string; readonly sentence: string; readonly fix: string }): string =>
  `${it.code}: ${it.sentence}; fix: ${it.fix}`;

/** The answer of a tool, before it is cut to its size. */
export interface ToolAnswer {
  /** What phx-sim itself states; nothing in it comes from the app. */
  readonly facts: JsonObject;
  readonly rows?: readonly CapturedRow[];
  /** How to get what follows the first `shown` rows; undefined: nothing follows. */
  readonly more?: (shown: number) => string | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** It changes nothing in the sim. */
  readonly isReadOnly: boolean;
  /** @throws SimError, ControlError, Failure */
  run(input: JsonObject, ports: ToolPorts, call: ToolCall): Promise<{ answer: ToolAnswer; size: number }>;
}

export const defaultSize = 2_000;
const largestSize = 20_000;

const size = z.int().min(500).max(largestSize).optional().describe(`Longest answer in bytes (default: ${defaultSize})`);

interface ToolRow<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly changes?: true;
  run(input: z.output<Input>, ports: ToolPorts, call: ToolCall): Promise<ToolAnswer>;
}

const isSize = (value: unknown): value is number => typeof value === "number";

/** A tool from its row; every tool has `max_bytes`. */
export const tool = <Input extends z.ZodObject>(row: ToolRow<Input>): Tool => ({
  name: row.name,
  description: row.description,
  input: row.input.extend({ max_bytes: size }),
  isReadOnly: row.changes !== true,
  async run(input, ports, call) {
    const { max_bytes, ...own } = input;
    const answer = await row.run(own as z.output<Input>, ports, call);
    return { answer, size: isSize(max_bytes) ? max_bytes : defaultSize };
  },
});

/** What the tools need of the sim that serves them. */
export interface McpPorts {
  /** Makes calls to this sim itself. */
  readonly send: Send;
  /** Redaction rules of the project, over the built-in ones. */
  readonly redaction?: TapeRules | undefined;
}
