import { payloadText } from "../flags/decision.ts";
import { overriddenDecision, overridesFor } from "../flags/overrides.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, jsonText, type Reply } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import type { Desk } from "../model/desk.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, ReadonlyWorld } from "../model/world.ts";
import { type FlagAccess, flagAccess } from "./flags-access.ts";
import { redacted } from "./flags-shapes.ts";

/** The project's remote-config flag of a key; digits alone are an id, as upstream has it. */
function findFlag(world: ReadonlyWorld, project: number, key: string): FeatureFlag | undefined {
  const isId = /^\d+$/.test(key);
  return world.feature_flags.find(
    (flag) =>
      flag.project === project &&
      !flag.deleted &&
      flag.is_remote_configuration &&
      (isId ? String(flag.id) === key : flag.key === key),
  );
}

/** Python's idea of nothing: such a payload is answered without a body. */
const isNothing = (payload: unknown): boolean =>
  !payload || (typeof payload === "object" && Object.keys(payload).length === 0);

function storedPayload(world: ReadonlyWorld, flag: FeatureFlag): string | null {
  const override = overridesFor({ current: world }, flag.project, undefined).get(flag.key);
  if (override) return overriddenDecision(flag, override).payload;
  const { payloads } = flag.filters;
  return isNothing(payloads?.true) ? null : payloadText(payloads, "true");
}

/** What the caller may see: an encrypted payload is for persons only, and servers do not learn whether there is one. */
function payloadFor(world: ReadonlyWorld, { credential }: FlagAccess, flag: FeatureFlag): string | null {
  if (flag.has_encrypted_payloads && credential === "secret") return redacted;
  return storedPayload(world, flag);
}

/** JSON by its type, without any. */
const nothing: Reply = jsonText("");

function remoteConfig(desk: Desk, call: Call): Reply<Note> {
  const access = flagAccess(call, desk, "service");
  const note: Note = { project: access.project.id };
  const flag = findFlag(desk.worlds.current, access.project.id, call.params.key ?? "");
  if (!flag) throw withNote(new SimError("not_found", "Not found."), note);
  const payload = payloadFor(desk.worlds.current, access, flag);
  return { ...(payload ? json(payload) : nothing), note };
}

/**
 * The payload of one remote-config flag, as a JSON string whose content is JSON; 200 without a body when it
 * has none. Upstream PostHog rust/feature-flags, api/remote_config.
 */
export const flagRemoteConfigEndpoints = (desk: Desk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/api/projects/:project_id/feature_flags/:key/remote_config",
    family: "service",
    summary: "Payload of a remote-config flag",
    scope: "feature_flag:read",
    handle: (call) => remoteConfig(desk, call),
  },
];
