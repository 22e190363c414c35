import type { JsonObject } from "../../../kernel/base/json.ts";
import { deciding, type Layer } from "../../../kernel/http/layer.ts";
import {
  type Mode,
  type ReplayOrder,
  TapeOrderError,
  type TapePlayer,
  type TapeSettings,
  type TapeStatus,
} from "../ports.ts";
import { offlineBy } from "../record/recordings.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { loadReplay } from "./load-replay.ts";
import type { ReplayingParts } from "./replay.ts";

type Loaded = Awaited<ReturnType<typeof loadReplay>>;

/** Tapes that answer instead of the emulator. */
export interface Replaying extends TapePlayer {
  /** Answers calls from the tape, while one is loaded. */
  readonly layer: Layer;
  /** True while a tape is loaded: unknown keys become projects. */
  readonly active: boolean;
  /** Loads the tape of the sim's options, if they name one to be replayed; the mode `new` records on it. @throws TapeOrderError */
  loadOwn(options: TapeSettings): Promise<void>;
  /** Ends what is recorded on the loaded tape. */
  close(): Promise<void>;
  /** Its name, mode and policy; null: none. */
  named(): JsonObject | null;
}

const replayModes: ReadonlySet<Mode | undefined> = new Set([undefined, "replay", "new"]);

/** Nothing of replays is loaded before a tape is. */
export function createReplaying(parts: ReplayingParts): Replaying {
  let loaded: Loaded | undefined;

  const shown = ({ matcher, rules, ...facts }: Loaded): TapeStatus => ({
    name: facts.name,
    file: facts.file,
    upstream: matcher.header.upstream,
    created: matcher.header.created,
    mode: rules.mode,
    on_miss: rules.onMiss,
    timing: rules.timingText,
    skip_status: [...rules.skipStatus],
    approximate: rules.approximate,
    problems: [...facts.problems],
    added: facts.recorder?.added() ?? 0,
    ledger: matcher.ledger(),
  });
  const show = (): TapeStatus | null => (loaded ? shown(loaded) : null);

  async function put(order: ReplayOrder, around: ReplayingParts): Promise<TapeStatus> {
    const { loadReplay } = await import("./load-replay.ts");
    const next = await loadReplay(order, around);
    await loaded?.recorder?.close();
    loaded = next;
    return shown(next);
  }

  return {
    layer: deciding({
      get active() {
        return loaded !== undefined;
      },
      take: (call) => loaded?.take(call),
    }),
    get active() {
      return loaded !== undefined;
    },
    named: () => (loaded ? { name: loaded.name, mode: loaded.rules.mode, on_miss: loaded.rules.onMiss } : null),
    show,
    tally: () => (loaded ? { name: loaded.name, mode: loaded.rules.mode, ...loaded.matcher.tally() } : null),
    // no other tape than that of the options is recorded on
    load: (order) => put(order, { ...parts, openRecorder: undefined }),
    async loadOwn({ tape, mode, onMiss, timing, skipStatus, approximate }) {
      if (!replayModes.has(mode)) return;
      if (tape !== undefined)
        await put({ tape, isNew: mode === "new", onMiss, timing, skipStatus, approximate }, parts);
      else if ((mode ?? onMiss ?? timing ?? skipStatus ?? approximate) !== undefined)
        throw new TapeOrderError("tape", "there is no tape to replay", "name one: --tape NAME, or `tape` in code");
    },
    unload() {
      const last = show();
      void loaded?.recorder?.close();
      loaded = undefined;
      return last;
    },
    close: async () => loaded?.recorder?.close(),
    rewind: (client) => loaded?.matcher.rewind(client),
  };
}

/** The ways to the upstream of the options, for what a tape has no response for. @param port The sim's own */
export function missWays(
  options: TapeSettings,
  redaction: RedactionRules | undefined,
  closing: AbortSignal,
  port: () => number,
  notice: (text: string) => void,
): Pick<ReplayingParts, "openForward" | "openRecorder"> {
  const { upstream, upstreamCa, host = "127.0.0.1", tape, mode, include, exclude, redact, raw } = options;
  if (upstream === undefined) return {};
  const own = () => ({ host, port: port() });
  const parts = { upstream, upstreamCa, offline: offlineBy(options), redaction, own, closing };
  return {
    openForward: async () => (await import("../record/miss-forward.ts")).openMissForwarder(parts),
    ...(mode === "new" &&
      tape !== undefined && {
        openRecorder: async () => {
          const { openMissRecorder } = await import("../record/miss-forward.ts");
          return openMissRecorder(parts, { upstream, include, exclude, redact, raw, tape }, notice);
        },
      }),
  };
}
