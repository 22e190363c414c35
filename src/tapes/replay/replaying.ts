import { SimError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Call } from "../../http/call.ts";
import type { Family } from "../../http/endpoint.ts";
import type { FaultPort } from "../../http/fault.ts";
import type { Reply } from "../../http/reply.ts";
import type { Store } from "../../sim/folder/open-store.ts";
import { type SimOptions, StartError } from "../../sim/types.ts";
import type { ReplayOrder, TapePlayer, TapeStatus } from "../ports.ts";
import { RecordingError } from "../ports.ts";
import { offlineBy, startErrorOf } from "../record/recordings.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { Recorder, ReplayOrderError } from "./load-replay.ts";

/** What replaying stands on. */
interface ReplayingParts {
  /** The project of a call. */
  owner(call: Call, family: Family): number | null;
  notice(text: string): void;
  /** Rules of the project for what is compared with a tape. */
  redaction?: RedactionRules | undefined;
  /** Opens the way to the service itself; without it the policy `upstream` is refused. @throws RecordingError */
  openForward?: (() => Promise<(call: Call) => Promise<Reply>>) | undefined;
  /** Opens the tape of the options for recording, with the mode `new`. @throws RecordingError */
  openRecorder?: (() => Promise<Recorder<Call>>) | undefined;
}

type Loaded = Awaited<ReturnType<typeof import("./load-replay.ts").loadReplay<Call, Family>>>;

/** Tapes that answer in the emulator's place. */
export interface Replaying extends TapePlayer {
  /** What the request core asks; inactive while no tape is in force. */
  readonly port: Omit<FaultPort, "closing">;
  /** Is a tape in force? Then unknown keys become projects. */
  readonly active: boolean;
  /** As `load`, for the tape of the sim's options: the mode `new` records on it. */
  loadOwn(order: ReplayOrder): Promise<TapeStatus>;
  /** Ends what is recorded on the tape in force. */
  close(): Promise<void>;
  /** Its name, mode and policy; null: none. */
  named(): JsonObject | null;
}

const keyOf = {
  mode: "/mode",
  onMiss: "/on_miss",
  timing: "/timing",
  skipStatus: "/skip_status",
  tape: "/tape",
} as const;

/** The control API's error for a tape that cannot be loaded. */
const controlError = ({ key, message, hint, cause }: ReplayOrderError): SimError =>
  new SimError("invalid_input", message, { pointer: keyOf[key], hint, cause });

/** Nothing of the replay room is loaded before a tape is. */
export function createReplaying(parts: ReplayingParts): Replaying {
  const { owner, notice, redaction, openForward, openRecorder } = parts;
  let loaded: Loaded | undefined;

  const shown = ({ deck, rules, ...facts }: Loaded): TapeStatus => ({
    name: facts.name,
    file: facts.file,
    upstream: deck.header.upstream,
    created: deck.header.created,
    mode: rules.mode,
    on_miss: rules.onMiss,
    timing: rules.timingText,
    skip_status: [...rules.skipStatus],
    problems: [...facts.problems],
    added: facts.recorder?.added() ?? 0,
    ledger: deck.ledger(),
  });
  const show = (): TapeStatus | null => (loaded ? shown(loaded) : null);

  /** @param isOwn Is it the tape of the sim's options? No other one is recorded on */
  async function put(order: ReplayOrder, isOwn: boolean): Promise<TapeStatus> {
    const { loadReplay, ReplayOrderError } = await import("./load-replay.ts");
    try {
      const around = { owner, notice, redaction, openForward, ...(isOwn && { openRecorder }) };
      const next = await loadReplay<Call, Family>(order, around);
      await loaded?.recorder?.close();
      loaded = next;
      return shown(next);
    } catch (error) {
      if (error instanceof RecordingError)
        throw new SimError("invalid_input", error.message, {
          pointer: "/on_miss",
          hint: error.hint,
          cause: error,
        });
      throw error instanceof ReplayOrderError ? controlError(error) : error;
    }
  }

  return {
    port: {
      get active() {
        return loaded !== undefined;
      },
      take: (call, family) => loaded?.take(call, family),
    },
    get active() {
      return loaded !== undefined;
    },
    named: () =>
      loaded ? { name: loaded.name, mode: loaded.rules.mode, on_miss: loaded.rules.onMiss } : null,
    show,
    tally: () => (loaded ? { name: loaded.name, mode: loaded.rules.mode, ...loaded.deck.tally() } : null),
    load: (order) => put(order, false),
    loadOwn: (order) => put(order, true),
    unload() {
      const last = show();
      void loaded?.recorder?.close();
      loaded = undefined;
      return last;
    },
    close: async () => loaded?.recorder?.close(),
    rewind: (client) => loaded?.deck.rewind(client),
  };
}

const replayModes: ReadonlySet<SimOptions["mode"]> = new Set([undefined, "replay", "none", "hybrid", "new"]);

/** Puts the tape of the options in force, if they name one to be replayed. @throws StartError tape; the store is closed */
export async function replayOrExplain(
  replaying: Replaying,
  options: SimOptions,
  store: Store,
): Promise<void> {
  try {
    await loadNamed(replaying, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function loadNamed(replaying: Replaying, options: SimOptions): Promise<void> {
  const { tape, mode, onMiss, timing, skipStatus } = options;
  if (!replayModes.has(mode)) return;
  if (tape === undefined && (mode ?? onMiss ?? timing ?? skipStatus) === undefined) return;
  if (tape === undefined)
    throw new StartError("tape", "there is no tape to replay", "name one: --tape NAME, or `tape` in code");
  try {
    await replaying.loadOwn({ tape, mode, onMiss, timing, skipStatus });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    if (error.cause instanceof RecordingError) throw startErrorOf(error.cause);
    throw new StartError("tape", error.message, error.extra.hint ?? "choose another tape", error);
  }
}

/** The ways to the upstream of the options, for what a tape has no answer for. @param port The sim's own */
export function missWays(
  options: SimOptions,
  redaction: RedactionRules | undefined,
  closing: AbortSignal,
  port: () => number,
  notice: (text: string) => void,
): Pick<ReplayingParts, "openForward" | "openRecorder"> {
  const { upstream, upstreamCa, host = "127.0.0.1", tape, mode, include, exclude, redact, raw } = options;
  if (upstream === undefined) return {};
  const own = () => ({ host, port: port() });
  const parts = { upstream, upstreamCa, offline: offlineBy(options), redaction, own, closing };
  const order = { upstream, include, exclude, redact, raw };
  return {
    openForward: async () => {
      const { openMissForwarder } = await import("../record/miss-forward.ts");
      return openMissForwarder(parts);
    },
    ...(mode === "new" &&
      tape !== undefined && {
        openRecorder: async () => {
          const { openMissRecorder } = await import("../record/miss-forward.ts");
          return openMissRecorder(parts, { ...order, tape }, notice);
        },
      }),
  };
}
