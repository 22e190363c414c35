import type { Recording, TapeInForce } from "./shape.ts";

export type ModeName = "emulate" | "replay" | "hybrid" | "record" | "all" | "once" | "new" | "spy" | "diff";

/** Whose answer a request gets, and what is written. */
export interface ModeFacts {
  /** Who answers, in one sentence. */
  readonly means: string;
  /** How to start in this mode; `{url}` stands for the upstream. */
  readonly command: string;
  /** How to get there from here. */
  readonly here: "unload" | "load" | "record" | undefined;
}

export const modes: Readonly<Record<ModeName, ModeFacts>> = {
  emulate: {
    means: "The emulator answers everything, from its own world. Nothing leaves this machine.",
    command: "phx-sim start",
    here: "unload",
  },
  replay: {
    means: "The tape answers. What it has no answer for is an error, so that it is noticed.",
    command: "phx-sim replay checkout",
    here: "load",
  },
  hybrid: {
    means: "The tape answers; the emulator answers what is not on it.",
    command: "phx-sim replay checkout --on-miss emulate",
    here: "load",
  },
  record: {
    means: "The real service answers. What passes is shown here and taped without its secrets.",
    command: "phx-sim record --upstream us --tape checkout",
    here: "record",
  },
  all: {
    means: "As record, and the tape is replaced when the recording ends with every request answered.",
    command: "phx-sim record --upstream us --tape checkout --mode all",
    here: "record",
  },
  once: {
    means: "Replays the tape if it exists, and else records it. Chosen at the start.",
    command: "phx-sim record --upstream us --tape checkout --mode once",
    here: undefined,
  },
  new: {
    means:
      "Replays the tape; what it has no answer for goes to the real service and is recorded. Chosen at the start.",
    command: "phx-sim record --upstream us --tape checkout --mode new",
    here: undefined,
  },
  spy: {
    means: "The emulator answers what it knows; requests that read something else go to the real service.",
    command: "phx-sim record --upstream us --mode spy",
    here: "record",
  },
  diff: {
    means: "The real service answers, and the emulator's answers are compared with its own.",
    command: "phx-sim record --upstream us --mode diff",
    here: "record",
  },
};

export const modeNames = Object.keys(modes) as readonly ModeName[];

/** The mode in force: a recording comes before a tape, as it does at the door. */
export function modeNow(
  tape: Pick<TapeInForce, "mode"> | null,
  recording: Pick<Recording, "state" | "mode">,
): ModeName {
  if (recording.state === "recording") return recording.mode ?? "record";
  if (tape === null) return "emulate";
  return tape.mode === "hybrid" || tape.mode === "new" ? tape.mode : "replay";
}

/** What becomes of a request that the tape has no answer for. */
export const missPolicies = {
  fail: "is an error (599)",
  emulate: "is answered by the emulator",
  upstream: "goes to the real service",
} as const;

export const missText = (policy: string): string =>
  Object.hasOwn(missPolicies, policy) ? missPolicies[policy as keyof typeof missPolicies] : policy;

/** How long recorded answers take. */
export function timingText(timing: string): string {
  if (timing === "none") return "at once";
  if (timing === "recorded") return "as long as they took";
  const [, kind, size] = /^(scale|max):(.+)$/.exec(timing) ?? [];
  if (kind === "scale") return `${size} times as long as they took`;
  return kind === "max" ? `as long as they took, at most ${size} ms` : timing;
}

/** What stands for a secret on a tape, percent-encoded as in a URL. */
const placeholder = /%7B%7B(\w+)%3A(\w+)%23(\d+)%7D%7D/g;

/** Without scheme and host: those do not say what differs. Placeholders read as they are meant. */
export const pathOf = (url: string): string =>
  url.replace(/^https?:\/\/[^/]*/i, "").replace(placeholder, "{{$1:$2#$3}}") || "/";

export const severityTones = { break: "bad", additive: "odd", value: "plain" } as const;

export const severityNotes = {
  break: "an app could break",
  additive: "one side has more",
  value: "another value of the same type",
} as const;
