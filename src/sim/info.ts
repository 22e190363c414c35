import type { JsonObject } from "../kernel/base/json.ts";
import { version } from "../kernel/base/version.ts";
import { clockFacts } from "../lab/clock/facts.ts";
import { recordingInShort } from "../lab/tapes/record/recordings.ts";
import type { Desk } from "../service/capture/desk.ts";
import { inspectorLink, type SimAddress } from "./address.ts";
import type { Foundation, SimSettings } from "./foundation.ts";
import type { Substitutes } from "./substitutes.ts";

export type SimInfo = ReturnType<typeof createInfo>;

export function createInfo(
  { options, controlToken }: SimSettings,
  { scenario, clock, agenda, clockStart, gauge, store }: Foundation,
  { dialect, keys }: Desk,
  { faults, replaying, recordings }: Substitutes,
  address: () => SimAddress,
) {
  const { worlds, people, log } = store;

  function facts(): JsonObject {
    const { url, shownUrl } = address();
    const [project] = worlds.current.projects;
    const [personal] = worlds.current.personal_api_keys;
    return {
      name: "phx-sim",
      version,
      pid: process.pid,
      url: shownUrl,
      local_url: url,
      inspector_url: inspectorLink(shownUrl, options.token === undefined ? controlToken : null),
      project_api_key: project?.api_key ?? null,
      secret_api_key: project === undefined ? null : keys.shownSecret(project),
      personal_api_key: personal === undefined ? null : keys.shownPersonal(personal),
      project_id: project?.id ?? null,
      projects: worlds.current.projects.map(({ id, name, api_key, adopted }) => ({ id, name, api_key, adopted })),
      scenario: scenario.name,
      data: store.folder,
      dialect,
      rate_limits: options.rateLimits === true,
      strict: options.strict === true,
      adopt_tokens: options.adoptTokens === true,
    };
  }

  const info = (): JsonObject => ({
    ...facts(),
    clock: { ...clockFacts(clock, agenda, clockStart) },
    counts: { ...log.counts(), ...people.counts() },
    scenario_problems: scenario.problems.map((it) => ({ ...it })),
    scenario_warnings: scenario.warnings.map((it) => ({ ...it })),
    scenario_edit: scenario.edit && { ...scenario.edit, changes: scenario.edit.changes.map((it) => ({ ...it })) },
    damage: store.damage.first.map((it) => ({ ...it })),
    damage_count: store.damage.count,
    tape: replaying.named(),
    recording: recordingInShort(recordings.facts()),
    faults: faults.names(),
    cursor: log.lastSeq,
    in_flight: gauge.inFlight,
  });

  return { facts, info };
}
