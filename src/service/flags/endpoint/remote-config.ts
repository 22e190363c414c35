import { SimError } from "../../../kernel/base/errors.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { json, jsonText, type Reply } from "../../../kernel/http/reply.ts";
import type { FeatureFlag, ReadonlyWorld } from "../../../state/documents/world.ts";
import type { Desk } from "../../capture/desk.ts";
import { payloadText } from "../engine/decision.ts";
import { overriddenDecision, overridesFor } from "../engine/overrides.ts";
import { type FlagAccess, flagAccess } from "./flag-access.ts";
import { redacted } from "./flags-answer.ts";

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

/** Falsy in Python: such a payload is answered without a body. */
const isNothing = (payload: unknown): boolean =>
  !payload || (typeof payload === "object" && Object.keys(payload).length === 0);

function storedPayload(world: ReadonlyWorld, flag: FeatureFlag): string | null {
  const override = overridesFor({ current: world }, flag.project, undefined).get(flag.key);
  if (override) return overriddenDecision(flag, override).payload;
  const { payloads } = flag.filters;
  return isNothing(payloads?.true) ? null : payloadText(payloads, "true");
}

/** An encrypted payload is for personal keys only; with a secret key it is redacted, even if there is none. */
function payloadFor(world: ReadonlyWorld, { credential }: FlagAccess, flag: FeatureFlag): string | null {
  if (flag.has_encrypted_payloads && credential === "secret") return redacted;
  return storedPayload(world, flag);
}

/** An empty body of the type JSON. */
const nothing: Reply = jsonText("");

function remoteConfig(desk: Desk, call: Call): Reply {
  const access = flagAccess(call, desk, "service");
  call.record.project = access.project.id;
  const flag = findFlag(desk.worlds.current, access.project.id, call.params.key ?? "");
  if (!flag) throw new SimError("not_found", "Not found.");
  const payload = payloadFor(desk.worlds.current, access, flag);
  return payload ? json(payload) : nothing;
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
