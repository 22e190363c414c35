import { SimError } from "../../kernel/base/errors.ts";
import { documentsOf } from "../../state/documents/project-documents.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Draft, MadeProject, ReadonlyWorld, StoredProject, World } from "../../state/documents/world.ts";
import type { ResetPorts } from "./ports.ts";
import { projectOf, putMade, storeMembers } from "./project-make.ts";
import { clearFaults } from "./project-removal.ts";

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

function remake(ports: ResetPorts, project: StoredProject, made: MadeProject): void {
  const { worlds, clock } = ports;
  worlds.change((draft) => {
    empty(draft, worlds.current, project.id);
    const again = projectOf(made, project, wireTime(clock.now()));
    draft.put("projects", { ...again, created_at: project.created_at });
    putMade(draft, made);
  });
}

/** @throws SimError not_found for an unknown project; conflict if its organization does not exist */
function resetToScenario({ worlds, authored }: ResetPorts, project: number): void {
  const scenario = authored.world();
  const inScenario = scenario.projects.find((it) => it.id === project);
  if (!inScenario && !worlds.projectById(project))
    throw new SimError("not_found", `there is no project ${project}`, { pointer: "/project" });
  if (inScenario && !worlds.get("organizations", inScenario.organization))
    throw new SimError("conflict", `the organization of project ${project} does not exist`, {
      pointer: "/project",
      hint: "reset the world without a project",
    });
  worlds.change((draft) => putBack(draft, worlds.current, scenario, project));
}

function resetWorld(ports: ResetPorts, project: number): void {
  const current = ports.worlds.projectById(project);
  if (current?.ephemeral) remake(ports, current, { ...current.ephemeral, after_request: ports.log.lastRequest });
  else resetToScenario(ports, project);
}

function resetPersons({ worlds, people, authored }: ResetPorts, project: number): void {
  const made = worlds.projectById(project)?.ephemeral;
  people.clear(project);
  if (made) storeMembers(people, project, made);
  else authored.seedPersons(project);
}

/** Stores the persons and group types of the projects that were made for tests. */
export function reseedMade({ worlds }: Pick<ResetPorts, "worlds">, people: ResetPorts["people"]): void {
  for (const { id, ephemeral } of worlds.current.projects) if (ephemeral) storeMembers(people, id, ephemeral);
}

/**
 * Resets a project to the scenario, or one that was made for a test to how it was made: its documents, persons,
 * groups and events, or some of these. Faults and scripted answers of a test's project are removed with its documents.
 * Any other project is emptied and stays.
 * @throws SimError not_found, conflict; the system's error, and then nothing has changed
 */
export function resetProject(ports: ResetPorts, project: number, parts: ReadonlySet<string>): void {
  if (parts.has("world")) resetWorld(ports, project);
  else if (!ports.worlds.projectById(project))
    throw new SimError("not_found", `there is no project ${project}`, { pointer: "/project" });
  if (parts.has("people")) resetPersons(ports, project);
  if (parts.has("events")) ports.log.forget(project);
  else ports.log.commit();
  if (parts.has("world") && ports.worlds.projectById(project)?.ephemeral) clearFaults(ports, project);
}
