import { randomUUID } from "node:crypto";
import type { ControlCall } from "../../kernel/call/call.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import type { TestProject } from "../../lab/test-projects/shapes.ts";
import type { Project, ProjectOptions } from "./api.ts";
import { tenantBy } from "./tenant.ts";

const goneCodes: readonly string[] = ["not_found", "sim_closed", "no_sim"];

const isGone = (error: unknown): boolean => error instanceof ControlError && goneCodes.includes(error.code);

/** This process, for the sim. */
const owner = randomUUID();

/** Makes a project and returns its handle. @throws ControlError */
export async function projectBy(
  call: ControlCall,
  host: string,
  { name, flags, settings, like }: ProjectOptions,
  waitMs: number,
): Promise<Project> {
  const made = await call<TestProject>("POST", "projects", { name, flags, settings, like, owner });
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
  assertions.waitMs = waitMs;
  const dispose = async () => {
    const notAwaited = await assertions.endWithReports();
    disposing ??= remove();
    await disposing;
    // after a failed assertion the test reports that one; `Promise.all` leaves the others pending
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
