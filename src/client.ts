import { assertionsOf } from "./assert/client-assertions.ts";
import type { JsonObject } from "./base/json.ts";
import type { SimClient } from "./client/api.ts";
import { callBy, fetchBy, type Send } from "./client/call.ts";
import { withKnownOptions } from "./client/option-keys.ts";
import { tenantBy } from "./client/tenant.ts";
import { clockBy } from "./clock/client.ts";
import { guardProcess } from "./egress/guard.ts";
import { exportsBy } from "./exports/client.ts";
import { projectBy } from "./projects/client.ts";
import { stateBy } from "./scenario/state/client.ts";
import { recordingBy, tapesBy } from "./tapes/client.ts";

const textIn = (facts: JsonObject, key: string): string => {
  const value = facts[key];
  return typeof value === "string" ? value : "";
};

/** The inspector at the used address, with the token of the sim's own link if it has one. */
function inspectorLink(url: string, facts: JsonObject): string {
  const link = textIn(facts, "inspector_url");
  return `${url}/__sim/${link.includes("#t=") ? link.slice(link.indexOf("#t=")) : ""}`;
}

/** The parts of a client. */
export interface ClientParts {
  /** Scheme, host and port of the sim. */
  url: string;
  send: Send;
  /** The answer of `GET /__sim/info`. */
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
