import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../kernel/json.ts";
import { askInfo, askReady } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type Located, locate, locateAbove } from "./locator.ts";
import type { Settings } from "./settings.ts";

/** How client commands are told where the sim is; part of each one's table. */
export const whereOptions = {
  url: { kind: "url", describe: "The sim's address (default: from the data folder's run.json)" },
  data: { kind: "folder", describe: "The sim's data folder", default: ".phx-sim" },
  token: { kind: "control token", describe: "Control token of a sim that requires one" },
} as const;

export type Where = Settings<typeof whereOptions>;

interface Spot {
  readonly url: string;
  /** For people: `--url`, `PHX_SIM_URL`, or the locator file. */
  readonly foundBy: string;
  readonly token: string | undefined;
}

/** A running sim: what it says of itself, and how it was found. */
export interface Running extends Spot {
  readonly info: JsonObject;
}

/** Pause between two looks, and the longest that one look may take. */
const pollMs = 50;
const askMs = 2000;

/**
 * The running sim, by --url, PHX_SIM_URL, or the locator in the data folder (the default folder is also
 * looked for in
 * the folders above). With `waitMs` it keeps looking until the sim is ready. Throws `no_sim`.
 */
export async function findRunning(where: Where, cwd: string, waitMs = 0): Promise<Running> {
  const end = Date.now() + waitMs;
  for (;;) {
    const found = await look(where, cwd, waitMs > 0);
    if (!(found instanceof Failure)) return found;
    if (Date.now() >= end) throw found;
    await pause(Math.min(pollMs, Math.max(1, end - Date.now())));
  }
}

async function look(where: Where, cwd: string, needsReady: boolean): Promise<Running | Failure> {
  const spot = spotOf(where, cwd);
  if (spot instanceof Failure) return spot;
  const ready = !needsReady || (await askReady(spot.url, askMs));
  const info = ready ? await askInfo(spot.url, askMs, spot.token) : undefined;
  if (info === "locked") return new Failure("no_sim", lockedBy(spot));
  if (info) return { ...spot, info };
  return new Failure("no_sim", `no phx-sim answers at ${clean(spot.url)} (from ${clean(spot.foundBy)})`);
}

const lockedBy = ({ url, token }: Spot): string =>
  `the phx-sim at ${clean(url)} asks for its token${token === undefined ? "" : ", and this is not it"}; ` +
  "give the token that it was started with by --token or PHX_SIM_TOKEN, or else the one in its banner or run.json";

function spotOf({ values, origins }: Where, cwd: string): Spot | Failure {
  // A folder named on the command line is nearer than an address from the environment.
  const folderFirst = origins.data.source === "flag" && origins.url.source !== "flag";
  if (values.url !== undefined && !folderFirst) {
    return { url: values.url, foundBy: origins.url.where, token: values.token };
  }
  const located = locatedBy(values.data, origins.data.source === "default", cwd);
  if (located) return { url: located.url, foundBy: located.file, token: values.token ?? located.token };
  return new Failure(
    "no_sim",
    `no running sim found from ${clean(values.data)}; start one with phx-sim start, or give --url or PHX_SIM_URL`,
  );
}

const locatedBy = (folder: string, isDefault: boolean, cwd: string): Located | undefined =>
  isDefault ? locateAbove(cwd, whereOptions.data.default) : locate(folder);
