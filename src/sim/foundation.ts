import { randomBytes } from "node:crypto";
import util from "node:util";
import { createAgenda } from "../kernel/base/agenda.ts";
import { SimClock } from "../kernel/base/clock.ts";
import { stackOf, storageTrouble } from "../kernel/base/errors.ts";
import { maskKeys } from "../kernel/base/secrets.ts";
import type { ObservingApp } from "../kernel/http/app.ts";
import type { GuardRules } from "../kernel/http/control-access.ts";
import { Gauge } from "../kernel/http/gauge.ts";
import { readPublicUrl } from "../kernel/http/reach.ts";
import { modeOf } from "../lab/tapes/record/recordings.ts";
import { isOpenAt } from "./address.ts";
import { checkOptions, redactionOf } from "./check-options.ts";
import {
  applyOrExplain,
  loadOrExplain,
  lookupOrExplain,
  openOrExplain,
  startOfClock,
  tapesOrExplain,
} from "./opening.ts";
import { createScenarioGenerator } from "./scenario-generator.ts";
import { createRefusals } from "./summary.ts";
import type { SimOptions } from "./types.ts";

export type SimSettings = Awaited<ReturnType<typeof readSettings>>;

export async function readSettings(given: SimOptions) {
  checkOptions(given);
  const options = { ...given, ...(await tapesOrExplain(modeOf(given))) };
  const redaction = redactionOf(options);
  const host = options.host ?? "127.0.0.1";
  const isOpen = isOpenAt(host, options.publicUrl);
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  const controlToken = options.token ?? (isOpen ? randomBytes(16).toString("hex") : null);
  const rules: GuardRules = { token: controlToken, publicUrl };
  const notice = (text: string) => options.onNotice?.(maskKeys(text));
  return { options, redaction, host, isOpen, publicUrl, controlToken, rules, notice };
}

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** What a sim stands on: scenario, clock, store. @throws StartError */
export async function openFoundation({ options, notice }: SimSettings, app: () => ObservingApp) {
  const scenario = await loadOrExplain(options, notice);
  const lookup = await lookupOrExplain(options.geoip, notice);
  const clockStart = startOfClock(options.clock ?? scenario.current.clock);
  const clock = new SimClock(clockStart);
  const gauge = new Gauge();
  // Node's own, also where a test environment (happy-dom) has replaced the global one; Bun has none
  const ending = util.transferableAbortController?.() ?? new AbortController();
  const traffic = createScenarioGenerator({
    scenario,
    folder: options.data,
    clock,
    app,
    projectByKey: (key) => store.worlds.projectByKey(key),
    closing: ending.signal,
    notice,
  });
  const store = await openOrExplain(options, scenario, clock.now, notice, traffic.expect);
  const newProjects = await applyOrExplain(options, scenario, store, notice);
  const onRefusal = createRefusals({ folder: store.folder, notice });
  const kept = options.clock === undefined ? store.clock?.read() : undefined;
  if (kept) clock.resume(kept.setting);
  const agenda = createAgenda(
    clock,
    (error) =>
      storageTrouble(error) === undefined ? notice(`what was due failed: ${stackOf(error)}`) : onRefusal(error),
    store.clock?.keep,
  );
  const lastSeen = kept?.seen;
  return {
    ...{ scenario, lookup, clock, clockStart, lastSeen, gauge, ending, traffic, store, newProjects },
    ...{ onRefusal, agenda },
  };
}
