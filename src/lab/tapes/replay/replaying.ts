import type { Call, CallFault } from "../../../kernel/http/call.ts";
import { deciding, type Layer } from "../../../kernel/http/layer.ts";
import { type Mode, type ReplayOrder, TapeOrderError, type TapeSettings, type TapeStatus } from "../ports.ts";
import { offlineBy } from "../record/recordings.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { loadReplay } from "./load-replay.ts";
import type { ReplayingParts } from "./replay.ts";

type Loaded = Awaited<ReturnType<typeof loadReplay>>;

const replayModes: ReadonlySet<Mode | undefined> = new Set([undefined, "replay", "new"]);

/** Tapes that answer instead of the emulator. Nothing of replays is loaded before a tape is. */
export class Replaying {
  readonly #parts: ReplayingParts;
  #loaded: Loaded | undefined;
  /** Answers calls from the tape, while one is loaded. */
  readonly layer: Layer = deciding(this);

  constructor(parts: ReplayingParts) {
    this.#parts = parts;
  }

  /** True while a tape is loaded: unknown keys become projects. */
  get active(): boolean {
    return this.#loaded !== undefined;
  }

  take(call: Call): CallFault | undefined {
    return this.#loaded?.take(call);
  }

  named() {
    const loaded = this.#loaded;
    return loaded ? { name: loaded.name, mode: loaded.rules.mode, on_miss: loaded.rules.onMiss } : null;
  }

  show(): TapeStatus | null {
    if (!this.#loaded) return null;
    const { name, file, matcher, rules, problems, recorder } = this.#loaded;
    return {
      name,
      file,
      upstream: matcher.header.upstream,
      created: matcher.header.created,
      mode: rules.mode,
      on_miss: rules.onMiss,
      timing: rules.timingText,
      skip_status: [...rules.skipStatus],
      approximate: rules.approximate,
      problems: [...problems],
      added: recorder?.added() ?? 0,
      ledger: matcher.ledger(),
    };
  }

  tally() {
    const loaded = this.#loaded;
    return loaded ? { name: loaded.name, mode: loaded.rules.mode, ...loaded.matcher.tally() } : null;
  }

  /** Answers from a tape, instead of the one before; only that of the options is recorded on. @throws TapeOrderError */
  async load(order: ReplayOrder): Promise<TapeStatus | null> {
    await this.#put(order, { ...this.#parts, openRecorder: undefined });
    return this.show();
  }

  /**
   * Loads the tape of the options, if they name one to be replayed; the mode `new` records on it.
   * @throws TapeOrderError
   */
  async loadOwn({ tape, mode, onMiss, timing, skipStatus, approximate }: TapeSettings): Promise<void> {
    if (!replayModes.has(mode)) return;
    if (tape !== undefined)
      await this.#put({ tape, isNew: mode === "new", onMiss, timing, skipStatus, approximate }, this.#parts);
    else if ((mode ?? onMiss ?? timing ?? skipStatus ?? approximate) !== undefined)
      throw new TapeOrderError("tape", "there is no tape to replay", "name one: --tape NAME, or `tape` in code");
  }

  /** The emulator answers again. Returns the tape that answered. */
  unload(): TapeStatus | null {
    const last = this.show();
    void this.close();
    this.#loaded = undefined;
    return last;
  }

  async close(): Promise<void> {
    await this.#loaded?.recorder?.close();
  }

  /** Back to the beginning, for one client or all; its ids are forgotten as well. */
  rewind(client?: string): void {
    this.#loaded?.matcher.rewind(client);
  }

  async #put(order: ReplayOrder, parts: ReplayingParts): Promise<void> {
    const { loadReplay } = await import("./load-replay.ts");
    const next = await loadReplay(order, parts);
    await this.close();
    this.#loaded = next;
  }
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
    async openRecorder() {
      if (mode !== "new" || tape === undefined) return undefined;
      const { openMissRecorder } = await import("../record/miss-forward.ts");
      return openMissRecorder(parts, { upstream, include, exclude, redact, raw, tape }, notice);
    },
  };
}
