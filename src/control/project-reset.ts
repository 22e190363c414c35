import { SimError } from "../kernel/errors.ts";
import { documentsOf } from "../model/project-documents.ts";
import { wireTime } from "../model/time.ts";
import type { Draft, MadeProject, Project, ReadonlyWorld, World } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";
import { projectOf, putMade } from "./project-make.ts";
import { storeMembers } from "./project-members.ts";
import { clearMischief } from "./project-removal.ts";

function empty(draft: Draft, current: ReadonlyWorld, project: number): void {
  for (const [name, documents] of documentsOf(current, new Set([project]))) {
    for (const { id } of documents) draft.remove(name, id);
  }
}

function putBack(draft: Draft, current: ReadonlyWorld, scenario: World, project: number): void {
  const only = new Set([project]);
  empty(draft, current, project);
  for (const it of scenario.projects) if (it.id === project) draft.put("projects", it);
  for (const [name, documents] of documentsOf(scenario, only)) {
    for (const it of documents) draft.put(name, it);
  }
}

type ResetDesk = Pick<
  ControlDesk,
  "worlds" | "people" | "log" | "clock" | "faults" | "answers" | "scenarioWorld" | "seedPeople"
>;

/** A project as it was made for a test; its personal key was not changed. */
function remake(desk: ResetDesk, project: Project, made: MadeProject): void {
  const { worlds, clock } = desk;
  worlds.change((draft) => {
    empty(draft, worlds.current, project.id);
    const again = projectOf(made, project, wireTime(clock.now()));
    draft.put("projects", { ...again, created_at: project.created_at });
    putMade(draft, made);
  });
}

/** @throws SimError not_found for a project that is neither there nor in the scenario; conflict when it has no home */
function resetToScenario({ worlds, scenarioWorld }: ResetDesk, project: number): void {
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

function resetWorld(desk: ResetDesk, project: number): void {
  const current = desk.worlds.projectById(project);
  if (current?.ephemeral)
    remake(desk, current, { ...current.ephemeral, after_request: desk.log.lastRequest });
  else resetToScenario(desk, project);
}

function resetPeople({ worlds, people, seedPeople }: ResetDesk, project: number): void {
  const made = worlds.projectById(project)?.ephemeral;
  people.clear(project);
  if (made) storeMembers(people, project, made);
  else seedPeople(project);
}

/** Stores what projects that were made for tests, and are still there, were made with. */
export function reseedMade({ worlds }: Pick<ControlDesk, "worlds">, people: ControlDesk["people"]): void {
  for (const { id, ephemeral } of worlds.current.projects) if (ephemeral) storeMembers(people, id, ephemeral);
}

/**
 * Brings a project back to the scenario, or one that was made for a test back to how it was made: its documents,
 * persons, groups and events, or some of these; nothing else is touched, but that faults and answers of a test's
 * project go with its documents. A project that neither made is emptied and stays.
 * @throws SimError not_found, conflict; the system's error, and then nothing has changed
 */
export function resetProject(desk: ResetDesk, project: number, parts: ReadonlySet<string>): void {
  if (parts.has("world")) resetWorld(desk, project);
  else if (!desk.worlds.projectById(project))
    throw new SimError("not_found", `there is no project ${project}`, { pointer: "/project" });
  if (parts.has("people")) resetPeople(desk, project);
  if (parts.has("events")) desk.log.forget(project);
  else desk.log.commit();
  if (parts.has("world") && desk.worlds.projectById(project)?.ephemeral) clearMischief(desk, project);
}
