import type { Send } from "../../kernel/call/call.ts";
import type { TapeRules } from "../../lab/tapes/redact/rules.ts";

/** What the tools need of the sim that serves them. */
export interface McpPorts {
  /** Makes calls to this sim itself. */
  readonly send: Send;
  /** Redaction rules of the project, over the built-in ones. */
  readonly redaction?: TapeRules | undefined;
}
