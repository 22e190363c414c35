import { wireTime } from "../../model/time.ts";
import type { Project, User } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { invalid } from "../invalid.ts";
import { newProjectKey } from "../new-keys.ts";
import { addProject } from "../organizations/create.ts";
import type { ProjectBody } from "./body.ts";
import { changeSettings } from "./settings.ts";

/** What can be done to projects. Upstream PostHog/posthog posthog/api/project.py. */
export function openProjectChanges(desk: ResourceDesk) {
  const { worlds } = desk;

  function checkDashboard(id: number | null | undefined, project: number | undefined): void {
    if (id === undefined || id === null) return;
    const dashboard = worlds.get("dashboards", id);
    if (dashboard && dashboard.project === project && !dashboard.deleted) return;
    throw invalid(`Invalid pk "${id}" - object does not exist.`, "primary_dashboard", "does_not_exist");
  }

  const put = (project: Project, changes: Partial<Project>): Project =>
    worlds.change((draft) =>
      draft.put("projects", { ...project, ...changes, updated_at: wireTime(desk.clock.now()) }),
    );

  return {
    create(organization: string, { name, is_demo, timezone, ...rest }: ProjectBody, user: User): Project {
      checkDashboard(rest.primary_dashboard, undefined);
      return worlds.change((draft) =>
        addProject(
          desk,
          draft,
          {
            organization,
            name: name ?? "Default project",
            is_demo: is_demo ?? false,
            timezone: timezone ?? "UTC",
            settings: changeSettings({}, rest),
          },
          user,
        ),
      );
    },
    change(project: Project, body: ProjectBody): Project {
      checkDashboard(body.primary_dashboard, project.id);
      const { name, is_demo, timezone, primary_dashboard } = body;
      return put(project, {
        ...(name !== undefined && { name }),
        ...(is_demo !== undefined && { is_demo }),
        ...(timezone !== undefined && { timezone }),
        ...(primary_dashboard !== undefined && { primary_dashboard }),
        settings: changeSettings(project.settings, body),
      });
    },
    /** The old key stops working at once. */
    resetKey: (project: Project): Project => put(project, { api_key: newProjectKey("phc_") }),
  };
}

export type ProjectChanges = ReturnType<typeof openProjectChanges>;
