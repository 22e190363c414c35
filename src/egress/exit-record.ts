/** Names the variable with what the preload of `exec --kill-after-response` needs, as JSON. */
export const exitVariable = "PHX_SIM_KILL_AFTER_RESPONSE";

export interface ExitOrder {
  /** The file to which each process appends its records, one a line. */
  readonly file: string;
  /** Only responses to this path count; `*` stands for any characters. */
  readonly path?: string | undefined;
}

/** A call of an SDK before the process ended. */
export interface SdkCall {
  readonly event: string;
  /** null: the SDK has not queued it, or sends it at once without saying its uuid. */
  readonly uuid: string | null;
  /** `file:line:column`; null if unknown. */
  readonly site: string | null;
}

export type ExitRecord =
  | { readonly kind: "loaded" }
  | {
      readonly kind: "killed";
      /** The request whose response ended the process. */
      readonly method: string;
      readonly path: string;
      readonly status: number;
      /** False if posthog-node was not found: a copy in a bundle cannot be watched. */
      readonly isWatched: boolean;
      /** Calls whose events were queued. */
      readonly queued: readonly SdkCall[];
      /** Calls of `captureImmediate` that had no result yet. */
      readonly pending: readonly SdkCall[];
    };
