import { payloadText } from "../flags/decision.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { empty, json, type Reply } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import type { Desk } from "../model/desk.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, ReadonlyWorld } from "../model/world.ts";
import { type FlagAccess, flagAccess } from "./flags-access.ts";
import { redacted } from "./flags-shapes.ts";

/** The project's remote-config flag of a key; a number is an id unless a flag has it as its key. */
function findFlag(world: ReadonlyWorld, project: number, key: string): FeatureFlag | undefined {
  const flags = world.feature_flags.filter(
    (flag) => flag.project === project && !flag.deleted && flag.is_remote_configuration,
  );
  return flags.find((flag) => flag.key === key) ?? flags.find((flag) => String(flag.id) === key);
}

/** What the caller may see: an encrypted payload is for persons only. */
function payloadFor({ credential }: FlagAccess, flag: FeatureFlag): string | null {
  const payload = payloadText(flag.filters.payloads, "true");
  const isHidden = flag.has_encrypted_payloads && credential === "secret";
  return payload !== null && isHidden ? redacted : payload;
}

function remoteConfig(desk: Desk, call: Call): Reply<Note> {
  const access = flagAccess(call, desk);
  const note: Note = { project: access.project.id };
  const flag = findFlag(desk.worlds.current, access.project.id, call.params.key ?? "");
  if (!flag) throw withNote(new SimError("not_found", "Not found."), note);
  const payload = payloadFor(access, flag);
  return { ...(payload ? json(payload) : empty(200)), note };
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
