import type { LoadedTape, RecordingFacts } from "../../../src/lab/tapes/shapes.ts";

export type ModeName = "emulate" | "replay" | "record" | "once" | "new" | "spy";

interface ModeFacts {
  /** The source of responses, in one sentence. */
  readonly means: string;
  /** Command that starts this mode. */
  readonly command: string;
}

export const modes: Readonly<Record<ModeName, ModeFacts>> = {
  emulate: {
    means: "The emulator responds to everything, from the emulated world. Nothing leaves this machine.",
    command: "phx-sim start",
  },
  replay: {
    means: "Responses come from the tape. Requests that are not on it fail, or go to the emulator or the real service.",
    command: "phx-sim replay checkout",
  },
  record: {
    means: "Responses come from the real service. Traffic is shown here and recorded without secrets.",
    command: "phx-sim record --upstream us --tape checkout",
  },
  once: {
    means: "Replays the tape if it exists, otherwise records it. Can only be set at start.",
    command: "phx-sim record --upstream us --tape checkout --mode once",
  },
  new: {
    means: "Replays the tape; other requests go to the real service and are recorded. Can only be set at start.",
    command: "phx-sim record --upstream us --tape checkout --mode new",
  },
  spy: {
    means: "The emulator responds on known paths; other read requests go to the real service.",
    command: "phx-sim record --upstream us --mode spy",
  },
};

export const modeNames = Object.keys(modes) as readonly ModeName[];

/** The current mode; a recording takes precedence over a tape. */
export function modeNow(
  tape: Pick<LoadedTape, "mode"> | null,
  recording: Pick<RecordingFacts, "state" | "mode">,
): ModeName {
  if (recording.state === "recording") return recording.mode ?? "record";
  return tape?.mode ?? "emulate";
}

/** What happens to requests that are not on the tape. */
const missPolicies = { fail: "fail (599)", emulate: "go to the emulator", upstream: "go to the real service" } as const;

export const missText = (policy: string): string =>
  Object.hasOwn(missPolicies, policy) ? missPolicies[policy as keyof typeof missPolicies] : policy;

/** Timing of recorded responses. */
export function timingText(timing: string): string {
  if (timing === "none") return "immediately";
  if (timing === "recorded") return "as recorded";
  const [, kind, size] = /^(scale|max):(.+)$/.exec(timing) ?? [];
  if (kind === "scale") return `${size} times as recorded`;
  return kind === "max" ? `as recorded, at most ${size} ms` : timing;
}

/** Percent-encoded placeholder of a secret in a URL. */
const placeholder = /%7B%7B(\w+)%3A(\w+)%23(\d+)%7D%7D/g;

/** A URL without scheme and host, with decoded placeholders. */
export const pathOf = (url: string): string =>
  url.replace(/^https?:\/\/[^/]*/i, "").replace(placeholder, "{{$1:$2#$3}}") || "/";
