import type { Project, ProjectOptions } from "./api.ts";
import { assertionsOf } from "./assertions.ts";
import type { ControlCall } from "./call.ts";
import { ControlError } from "./errors.ts";
import { withKnownOptions } from "./option-keys.ts";
import { tenantBy } from "./tenant.ts";

/** What the sim tells of a project that it made. */
interface Made {
  id: number;
  name: string;
  api_key: string;
  secret_api_key: string;
  personal_api_key: string;
}

/** Somebody deleted the project before us, or the sim with it. */
const goneCodes: readonly string[] = ["not_found", "sim_closed", "no_sim"];

const isGone = (error: unknown): boolean => error instanceof ControlError && goneCodes.includes(error.code);

/** Makes a project and returns its handle. @throws ControlError */
export const projectBy = async (call: ControlCall, host: string, options: ProjectOptions): Promise<Project> =>
  withKnownOptions(await makeProject(call, host, options));

async function makeProject(
  call: ControlCall,
  host: string,
  { name, flags, like }: ProjectOptions,
): Promise<Project> {
  const made = await call<Made>("POST", "projects", { name, flags, like });
  const { id: project } = made;
  let disposing: Promise<void> | undefined;
  const remove = async () => {
    try {
      await call("DELETE", `projects/${project}`);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  };
  const keys = {
    apiKey: made.api_key,
    secretApiKey: made.secret_api_key,
    personalApiKey: made.personal_api_key,
    projectId: project,
    host,
  };
  const tenant = tenantBy({ call, project }, keys);
  const assertions = assertionsOf(tenant);
  const dispose = async () => {
    const notAwaited = assertions.end();
    disposing ??= remove();
    await disposing;
    // After a failed assertion the test reports that one; `Promise.all` leaves the others pending.
    if (notAwaited && !assertions.hasFailed) throw notAwaited;
  };
  return {
    ...tenant,
    id: project,
    name: made.name,
    reset: async () => void (await call("POST", "reset", { project })),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
