import type { EndpointFacts } from "../kernel/http/endpoint.ts";
import type { OnChange } from "../lab/scenario/reload.ts";
import type { ScenarioSource } from "../lab/scenario/source.ts";
import type { Mode } from "../lab/tapes/ports.ts";
import type { RedactionRules } from "../lab/tapes/redact/rules.ts";
import type { MissPolicy, RecordingFacts } from "../lab/tapes/shapes.ts";
import type { Dialect } from "../state/documents/dialect.ts";
import type { RequestSummary } from "../state/journal/request-summary.ts";
import type { TrafficLine } from "../state/journal/traffic.ts";
import type { SimClient } from "./client/api.ts";
import type { ClientParts } from "./client/client.ts";
import type { ProxyOptions } from "./server/proxy/proxy.ts";

export type { RedactionRule, RedactionRules } from "../lab/tapes/redact/rules.ts";

export interface SimOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. Anything wider makes the control API require a token, and replaces published keys. */
  host?: string;
  /**
   * The token that the control API requires (16 characters or more), also on loopback. It is never printed. Default:
   * none on loopback; a generated one where the sim is open to the network.
   */
  token?: string;
  /**
   * The address by which others reach the sim, e.g. `http://sim:7490` in a network of containers: banner, `phx-sim env`,
   * `run.json`, `info()` and links in answers use it. One that is not loopback opens the sim to the network, as
   * `host` does. Default: the address that it listens on.
   */
  publicUrl?: string;
  /** Folder for what arrives and what is edited. Default: everything stays in memory. */
  data?: string;
  /**
   * How much traffic is kept: a size (`2GB`), an age by the sim's clock (`7d`), or both (`2GB,7d`). The oldest requests
   * are let go, with their events; numbers are never used again. Default: all of it in a data folder, 256 MB in memory.
   */
  keep?: string;
  /** A shipped scenario's name, a scenario file's path, a scenario, or a list of these laid over each other. Default `default`. */
  scenario?: ScenarioSource;
  /** `documented`: the contract; `production` follows the live service where the two differ. Default: the scenario's. */
  dialect?: Dialect;
  /**
   * What an edit of the scenario's files does to a running sim. `merge`: what the edit changed is changed, all else
   * stays; `reset`: back to the scenario, captured events stay; `ignore` (default): nothing.
   */
  onChange?: OnChange;
  /** Starts anew from the scenario: what the data folder has is removed. Default: off. */
  fresh?: boolean;
  /** Makes a project of every well-formed unknown `phc_` key. */
  adoptTokens?: boolean;
  /** Applies the service's rate limits to personal keys. Default: off. */
  rateLimits?: boolean;
  /** Time that one query may compute, ms. Default: 10,000. */
  queryTimeout?: number;
  /** Path of a city database in MaxMind's format; rows of the scenario count before it. Default: none. */
  geoip?: string;
  /** Answers 501 with the nearest endpoints on paths that are not emulated. */
  strict?: boolean;
  /**
   * The sim's time at the start, and after a reset: `real` (the machine's), or a time in ISO 8601 from which it
   * runs on, or at which it stands. Default: the scenario's, else `real`.
   */
  clock?: ClockSetting;
  /**
   * The forward proxy on the sim's port (HTTP_PROXY, HTTPS_PROXY): the service's hosts are answered here, all else is
   * passed on. Default: on; nothing of it is loaded before it is used. false: none.
   */
  proxy?: ProxyOptions | false;
  /**
   * A tape to answer from: its name (`tapes/NAME.tape.ndjson`) or path. Events are captured as always; all else gets
   * what was recorded. Unknown `phc_` keys become projects.
   */
  tape?: string;
  /**
   * With a tape alone: `replay` (default). With an upstream: `record` (default): everything goes there, a tape that
   * exists is continued; `once`: replays the tape if it exists, else records it; `new`: replays the tape and records what
   * it has no response for; `spy`: only what the emulator has no row for goes there.
   */
  mode?: Mode;
  /**
   * With `once` and `new`: a tape that was created longer ago (`7d`, `12h`) is recorded again, and replaced on
   * `close()`, if every request was answered. Where the upstream must not be reached, it is replayed anyway, with a notice.
   */
  maxAge?: string;
  /** What becomes of requests that the tape has no response for. Default: `fail`, answered 599. */
  onMiss?: MissPolicy;
  /** How long recorded answers take: `none` (default), `recorded`, `scale:0.5` of that, or `max:2000` ms. */
  timing?: string;
  /** With a tape: recorded answers with these statuses are not given, e.g. `[429]`. Default: all are. */
  skipStatus?: readonly number[];
  /** With `tape`: gives flags of another person, group or other properties where the tape has none of this one. Default: off. */
  approximate?: boolean;
  /**
   * Whose answers are recorded: `us`, `eu`, or the address of a self-hosted service. Alone it means the mode `record`:
   * every request goes there, shows here, and is taped if there is a `tape`.
   */
  upstream?: string;
  /** No upstream may be reached: an error instead. Default: under CI (`CI` set) only loopback ones may. */
  offline?: boolean;
  /** A certificate authority (PEM) to trust in addition to the usual ones, for an upstream with TLS. */
  upstreamCa?: string;
  /** Globs over paths: only these are taped (`/flags/**`); all are passed on. */
  include?: readonly string[];
  /** Globs over paths that are not taped. */
  exclude?: readonly string[];
  /** What is taken out before anything is written: secrets (`default`), or personal data as well (`pii`). */
  redact?: "default" | "pii";
  /**
   * Rules of your own over the built-in ones: what else is secret, what is not, and what differs without meaning. They
   * count for what is recorded and for what is compared with a tape; the tape carries them.
   */
  redaction?: RedactionRules;
  /**
   * While recording: writes and shows everything as it was sent, secrets and personal data too, on the tape and in the
   * data folder. Default: no, whatever is written is redacted first.
   */
  raw?: boolean;
  /** With `spy`: may requests that change something go to the upstream? Default: no. */
  allowWrites?: boolean;
  /** How long assertions of this handle wait by default, ms. Default: `PHX_SIM_WAIT`, else 4,000. */
  waitMs?: number;
  /**
   * Reports of failed assertions link to the inspector. Default: false, as a sim in process ends with the run and
   * leaves a dead link; `phx-sim start` sets it.
   */
  reportLinks?: boolean;
  /**
   * Called once a client has asked the sim to end (`POST /__sim/stop`, `phx-sim stop`) and has its answer. Default:
   * such calls are refused.
   */
  onStop?: () => void;
  /** Receives what the user should know: a repaired log, an adopted key, a bug. */
  onNotice?: (text: string) => void;
}

/** How the clock starts: `real`, a time, or both with whether it stands. */
export type ClockSetting = string | { now?: string; frozen?: boolean };

interface SimInProcess {
  readonly dialect: Dialect;
  /** The data folder, or null in memory. */
  readonly data: string | null;
  /** What the control API requires; null: nothing. */
  readonly controlToken: string | null;
  /** The address that is printed; `host` unless the option `publicUrl` names another. */
  readonly publicUrl: string;
  readonly version: string;
  /** Every endpoint that is served: the rows behind the routes. */
  endpoints(): Promise<readonly EndpointFacts[]>;
  /** Answers a web request without a socket; usable as an SDK's `fetch` option. */
  handle(request: Request): Promise<Response>;
  /** How the recording is, or was; also once the sim is closed. */
  recorded(): RecordingFacts;
  /** True if a tape answers; `tapes.get()` has its name. */
  isReplaying(): boolean;
  /** Calls back after each answered request; returns the function that ends it. */
  onRequest(listener: (summary: RequestSummary) => void): () => void;
  /** Calls back with each request as the journal has it: a test may clear it later. Returns the function that ends it. */
  onLine(listener: (line: TrafficLine) => void): () => void;
  /** Calls back with each project that is made for a test; its name is null if it was made without one. */
  onProject(listener: (project: { id: number; name: string | null }) => void): () => void;
  /** Stops accepting, ends what is waited for, writes everything, closes. Harmless when done twice. */
  close(): Promise<void>;
}

/** A sim without its client, which a start from the command line does not load. */
export type SimServer = SimInProcess & ClientParts;

/** A sim that runs in this process. */
export interface Sim extends SimClient, SimInProcess {}

export class StartError extends Error {
  readonly code:
    | "option"
    | "clock"
    | "port_in_use"
    | "bad_host"
    | "bad_port"
    | "data_folder"
    | "scenario"
    | "geoip"
    | "proxy"
    | "tape"
    | "upstream"
    | "offline";
  /** What to do about it. */
  readonly hint: string;

  constructor(code: StartError["code"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartError";
    this.code = code;
    this.hint = hint;
  }
}
