import type { HandleScope } from "../../kernel/call/call.ts";
import { knownOptions } from "../../kernel/call/option-keys.ts";
import { Assertions, withAssertions } from "../../lab/assert/client-assertions.ts";
import { eventsBy, requestsBy } from "../../lab/assert/events-client.ts";
import { envGroups, type Framework, frameworks } from "../../lab/egress/env-names.ts";
import { answersBy } from "../../lab/faults/answers-client.ts";
import { faultsBy } from "../../lab/faults/client.ts";
import { lintBy } from "../../lab/lint/client.ts";
import { groupsBy, personsBy } from "../../lab/person-history/client.ts";
import { proxiesBy } from "../../lab/proxy-check/client.ts";
import { recordingsBy } from "../../lab/sessions/client.ts";
import { flagsBy } from "../../service/flags/client.ts";
import { queriesBy } from "../../service/query/client.ts";
import type { Tenant } from "./api.ts";

export type TenantKeys = Pick<Tenant, "apiKey" | "secretApiKey" | "personalApiKey" | "projectId" | "host">;

const isFramework = (name: string): name is Framework => frameworks.some((it) => it === name);

function envOf({ host, apiKey, personalApiKey, projectId }: TenantKeys, framework: string | undefined) {
  if (framework !== undefined && !isFramework(framework))
    throw new RangeError(`unknown framework "${framework}"; use one of ${frameworks.join(", ")}`);
  const access = { url: host, project_api_key: apiKey, personal_api_key: personalApiKey, project_id: projectId };
  return Object.fromEntries(envGroups(access, framework).flatMap(({ variables }) => variables));
}

const tenantOptions = knownOptions<Tenant>("", { lint: [["project", "maxMs"]], settle: [["idleMs", "timeoutMs"]] });

export function tenantBy({ call, project }: HandleScope, keys: TenantKeys): Tenant {
  const assertions = new Assertions();
  const place: HandleScope = {
    project,
    call: (method, path, body, signal = assertions.signal) => call(method, path, body, signal),
  };
  const requests = requestsBy(place);
  const tenant: Tenant = tenantOptions({
    ...keys,
    url: keys.host,
    events: eventsBy(place, requests, assertions),
    requests,
    persons: personsBy(place),
    groups: groupsBy(place),
    flags: flagsBy(place),
    faults: faultsBy(place),
    answers: answersBy(place),
    proxies: proxiesBy(place),
    recordings: recordingsBy(place),
    lint: lintBy(place),
    ...queriesBy(place),
    settle: async ({ idleMs, timeoutMs } = {}) => {
      const body = { project, idle_ms: idleMs, timeout_ms: assertions.within(timeoutMs) };
      await place.call("POST", "settle", body);
    },
    env: (framework) => envOf(keys, framework),
  });
  return withAssertions(tenant, assertions);
}
