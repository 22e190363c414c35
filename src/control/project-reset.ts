import { SimError } from "../kernel/errors.ts";
import { documentsOf } from "../model/project-documents.ts";
import type { Draft, ReadonlyWorld, World } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";

function putBack(draft: Draft, current: ReadonlyWorld, scenario: World, project: number): void {
  const only = new Set([project]);
  for (const [name, documents] of documentsOf(current, only)) {
    for (const { id } of documents) draft.remove(name, id);
  }
  for (const it of scenario.projects) if (it.id === project) draft.put("projects", it);
  for (const [name, documents] of documentsOf(scenario, only)) {
    for (const it of documents) draft.put(name, it);
  }
}

type ResetDesk = Pick<ControlDesk, "worlds" | "people" | "log" | "scenarioWorld" | "seedPeople">;

/** @throws SimError not_found for a project that is neither there nor in the scenario; conflict when it has no home */
function resetWorld({ worlds, scenarioWorld }: ResetDesk, project: number): void {
  const scenario = scenarioWorld();
  const authored = scenario.projects.find((it) => it.id === project);
  if (!authored && !worlds.projectById(project))
    throw new SimError("not_found", `there is no project ${project}`, { pointer: "/project" });
  if (authored && !worlds.get("organizations", authored.organization))
    throw new SimError("conflict", `the organization of project ${project} is gone`, {
      pointer: "/project",
      hint: "reset the world without naming a project",
    });
  worlds.change((draft) => putBack(draft, worlds.current, scenario, project));
}

/**
 * Brings a project back to the scenario: its documents, persons, groups and events, or some of these; nothing
 * else is touched. A project that the scenario does not have is emptied and stays.
 * @throws SimError not_found, conflict
 */
export async function resetProject(
  desk: ResetDesk,
  project: number,
  parts: ReadonlySet<string>,
): Promise<void> {
  if (parts.has("world")) resetWorld(desk, project);
  else if (!desk.worlds.projectById(project))
    throw new SimError("not_found", `there is no project ${project}`, { pointer: "/project" });
  if (parts.has("people")) {
    desk.people.clear(project);
    desk.seedPeople(project);
  }
  if (parts.has("events")) desk.log.forget(project);
  await desk.log.written();
}
