import { resolve } from "node:path";
import { RecordingError } from "../control/recording-port.ts";
import type { TapeInForce, TapeOrder, Tapes } from "../control/tapes-desk.ts";
import type { Call } from "../http/call.ts";
import type { Family } from "../http/endpoint.ts";
import type { FaultPort } from "../http/fault.ts";
import type { Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Note } from "../model/traffic.ts";
import type { ReplayOrderError } from "../replay/load.ts";
import type { Store } from "../store/store.ts";
import type { RedactionRules } from "../tape/redact/rules.ts";
import { offlineBy } from "./recording-start.ts";
import { type SimOptions, StartError } from "./types.ts";

/** What replaying stands on. */
interface ReplayingParts {
  /** Finds out whose call it is and what its body says. */
  read(call: Call, family: Family): Note;
  notice(text: string): void;
  /** Rules of the project for what is compared with a tape. */
  redaction?: RedactionRules | undefined;
  /** Opens the way to the service itself; without it the policy `upstream` is refused. @throws RecordingError */
  openForward?: (() => Promise<(call: Call) => Promise<Reply>>) | undefined;
}

type Loaded = Awaited<ReturnType<typeof import("../replay/load.ts").loadReplay<Call, Family>>>;

/** Tapes that answer in the emulator's place. */
export interface Replaying extends Tapes {
  /** What the request core asks; inactive while no tape is in force. */
  readonly port: Omit<FaultPort, "closing">;
  /** Is a tape in force? Then unknown keys become projects. */
  readonly active: boolean;
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

/** What a control call is told of a tape that cannot be loaded. */
const controlError = ({ key, message, hint, cause }: ReplayOrderError): SimError =>
  new SimError("invalid_input", message, { pointer: keyOf[key], hint, cause });

/** Nothing of the replay room is loaded before a tape is. */
export function createReplaying({ read, notice, redaction, openForward }: ReplayingParts): Replaying {
  let loaded: Loaded | undefined;

  const shown = ({ deck, rules, ...facts }: Loaded): TapeInForce => ({
    name: facts.name,
    file: facts.file,
    upstream: deck.header.upstream,
    created: deck.header.created,
    mode: rules.mode,
    on_miss: rules.onMiss,
    timing: rules.timingText,
    skip_status: rules.skipStatus,
    problems: facts.problems,
    ledger: deck.ledger(),
  });
  const show = (): TapeInForce | null => (loaded ? shown(loaded) : null);

  async function load(order: TapeOrder): Promise<TapeInForce> {
    const { loadReplay, ReplayOrderError } = await import("../replay/load.ts");
    try {
      const place = { ...order, tape: order.tape, folder: resolve(".") };
      const next = await loadReplay<Call, Family>(place, { read, notice, redaction, openForward });
      loaded = next;
      return shown(next);
    } catch (error) {
      if (error instanceof RecordingError)
        throw new SimError("invalid_input", error.message, { pointer: "/on_miss", hint: error.hint });
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
    load,
    unload() {
      const last = show();
      loaded = undefined;
      return last;
    },
    rewind: (client) => loaded?.deck.rewind(client),
  };
}

const isReplayMode = (mode: SimOptions["mode"]): boolean =>
  mode === undefined || mode === "replay" || mode === "hybrid";

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
  if (!isReplayMode(mode)) return;
  if (tape === undefined && (mode ?? onMiss ?? timing ?? skipStatus) === undefined) return;
  if (tape === undefined)
    throw new StartError("tape", "there is no tape to replay", "name one: --tape NAME, or `tape` in code");
  try {
    await replaying.load({
      tape,
      ...(mode !== undefined && { mode }),
      ...(onMiss !== undefined && { onMiss }),
      ...(timing !== undefined && { timing }),
      ...(skipStatus && { skipStatus }),
    });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    throw new StartError("tape", error.message, error.extra.hint ?? "choose another tape", error);
  }
}

/** The way to the upstream of the options, for what a tape has no answer for. @param port The sim's own */
export function missForward(
  options: SimOptions,
  closing: AbortSignal,
  port: () => number,
): ReplayingParts["openForward"] {
  const { upstream, upstreamCa, host = "127.0.0.1" } = options;
  if (upstream === undefined) return undefined;
  return async () => {
    const { openMissForwarder } = await import("./miss-forward.ts");
    const own = () => ({ host, port: port() });
    return openMissForwarder({ upstream, upstreamCa, offline: offlineBy(options), own, closing });
  };
}
