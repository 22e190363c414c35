import type { SimClient } from "./client/api.ts";
import { assertionsOf } from "./client/assertions.ts";
import { callBy, fetchBy, type Send } from "./client/call.ts";
import { clockBy } from "./client/clock.ts";
import { exportsBy } from "./client/exports.ts";
import { withKnownOptions } from "./client/option-keys.ts";
import { projectBy } from "./client/project.ts";
import { recordingBy } from "./client/recording.ts";
import { stateBy } from "./client/state.ts";
import { tapesBy } from "./client/tapes.ts";
import { tenantBy } from "./client/tenant.ts";
import { guardProcess } from "./guard/guard.ts";
import type { JsonObject } from "./kernel/json.ts";

const textIn = (facts: JsonObject, key: string): string => {
  const value = facts[key];
  return typeof value === "string" ? value : "";
};

/** The address that was used, with the token that the sim's own link carries where it needs one. */
function inspectorLink(url: string, facts: JsonObject): string {
  const link = textIn(facts, "inspector_url");
  return `${url}/__sim/${link.includes("#t=") ? link.slice(link.indexOf("#t=")) : ""}`;
}

/** What a client stands on. */
export interface ClientParts {
  /** Scheme, host and port of the sim. */
  url: string;
  send: Send;
  /** What `GET /__sim/info` tells. */
  facts: JsonObject;
  close(): Promise<void>;
}

/** The control API as functions. One interface for a sim in process and one elsewhere. */
export const createClient = (parts: ClientParts): SimClient => withKnownOptions(clientOf(parts));

function clientOf({ url, send, facts, close }: ClientParts): SimClient {
  const call = callBy(send);
  const keys = {
    apiKey: textIn(facts, "project_api_key"),
    secretApiKey: textIn(facts, "secret_api_key"),
    personalApiKey: textIn(facts, "personal_api_key"),
    projectId: typeof facts.project_id === "number" ? facts.project_id : 0,
    host: url,
  };
  const tenant = tenantBy({ call }, keys);
  const assertions = assertionsOf(tenant);
  return {
    ...tenant,
    ...stateBy(call),
    inspectorUrl: inspectorLink(url, facts),
    clock: clockBy(call),
    exports: exportsBy(call, fetchBy(send)),
    tapes: tapesBy(call),
    recording: recordingBy(call),
    project: (options = {}) => projectBy(call, url, options),
    guard: (options = {}) => guardProcess({ ...options, url }),
    info: () => call("GET", "info"),
    close,
    async [Symbol.asyncDispose]() {
      const notAwaited = assertions.end();
      await close();
      if (notAwaited && !assertions.hasFailed) throw notAwaited;
    },
  };
}
