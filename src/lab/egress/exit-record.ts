/** Names the variable with what the preload of `exec --kill-after-response` needs, as JSON. */
export const exitVariable = "PHX_SIM_KILL_AFTER_RESPONSE";

export interface ExitOrder {
  /** The file to which each process appends its records, one a line. */
  readonly file: string;
  /** Only responses to this path count; `*` stands for any characters. */
  readonly path?: string | undefined;
}

export interface SdkCall {
  readonly kind: "event" | "log" | "metric" | "span";
  /** The event's or metric's name, the span's name, the log's text. */
  readonly event: string;
  /** null: the SDK has not queued it, or sends it at once without saying its uuid. */
  readonly uuid: string | null;
  /** `file:line:column`; null if unknown. */
  readonly site: string | null;
}

export type ExitRecord =
  | { readonly kind: "loaded" }
  /** The process has a part that is not watched, and that does not end it. */
  | { readonly kind: "unwatched"; readonly part: "http2" | "worker" }
  | {
      readonly kind: "killed";
      readonly method: string;
      readonly path: string;
      readonly status: number;
      /** False if posthog-node was not found: a copy in a bundle cannot be watched. */
      readonly isWatched: boolean;
      /** Events that were queued, the sent ones included. */
      readonly queued: readonly SdkCall[];
      /** Events that the SDK had not queued yet: it reads flags or source files for them. */
      readonly preparing: readonly SdkCall[];
      /** Calls of `captureImmediate` and the like that had no result yet. */
      readonly pending: readonly SdkCall[];
      readonly immediate: readonly string[];
      readonly unsent: readonly SdkCall[];
      /** Kinds of which this version of the SDK does not show what is unsent. */
      readonly unread: readonly string[];
    };
