import { envGroups, type Framework, frameworks } from "../kernel/env-names.ts";
import { answersBy } from "./answers.ts";
import type { Tenant } from "./api.ts";
import { createAssertions, withAssertions } from "./assertions.ts";
import type { Place } from "./call.ts";
import { eventsBy } from "./events.ts";
import { faultsBy } from "./faults.ts";
import { flagsBy } from "./flags.ts";
import { lintBy } from "./lint.ts";
import { groupsBy, personsBy } from "./people.ts";
import { requestsBy } from "./requests.ts";

/** What an app needs to be somebody's. */
export type Keys = Pick<Tenant, "apiKey" | "secretApiKey" | "personalApiKey" | "projectId" | "host">;

const isFramework = (name: string): name is Framework => frameworks.some((it) => it === name);

/** The variables for one framework, or all. @throws RangeError for one that is not known */
function envOf({ host, apiKey, personalApiKey, projectId }: Keys, framework: string | undefined) {
  if (framework !== undefined && !isFramework(framework))
    throw new RangeError(`no framework is called "${framework}"; known are ${frameworks.join(", ")}`);
  const access = {
    url: host,
    project_api_key: apiKey,
    personal_api_key: personalApiKey,
    project_id: projectId,
  };
  return Object.fromEntries(envGroups(access, framework).flatMap(({ variables }) => variables));
}

/** What a sim and a project's handle have in common, over the control API. */
export function tenantBy({ call, project }: Place, keys: Keys): Tenant {
  const assertions = createAssertions();
  const place: Place = {
    project,
    call: (method, path, body, signal = assertions.signal) => call(method, path, body, signal),
  };
  const requests = requestsBy(place);
  const tenant: Tenant = {
    ...keys,
    url: keys.host,
    events: eventsBy(place, requests, assertions),
    requests,
    persons: personsBy(place),
    groups: groupsBy(place),
    flags: flagsBy(place),
    faults: faultsBy(place),
    answers: answersBy(place),
    lint: lintBy(place),
    settle: async ({ idleMs, timeoutMs } = {}) => {
      const body = { project, idle_ms: idleMs, timeout_ms: assertions.within(timeoutMs) };
      await place.call("POST", "settle", body);
    },
    env: (framework) => envOf(keys, framework),
  };
  return withAssertions(tenant, assertions);
}
