import { z } from "zod";
import { pathNumber } from "../../kernel/http/control-body.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { projectOf } from "../../state/documents/project-lookup.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import { type ProjectPorts, resetNeeds } from "./ports.ts";
import { accessTo, makeProject } from "./project-make.ts";
import { keysOf, removeProject } from "./project-removal.ts";
import { ProjectOrder, ShownProject, TestProject } from "./shapes.ts";

function templateOf({ worlds }: ProjectPorts, like: ProjectOrder["like"]): StoredProject | null {
  if (like === null) return null;
  return like === undefined ? (worlds.current.projects[0] ?? null) : projectOf(worlds, like, "/like");
}

function show({ worlds, keys }: ProjectPorts, project: StoredProject): z.input<typeof ShownProject> {
  const [personal] = keysOf(worlds, project.id);
  return {
    id: project.id,
    name: project.name,
    api_key: project.api_key,
    secret_api_key: keys.shownSecret(project),
    personal_api_key: personal === undefined ? null : keys.shownPersonal(personal),
    ephemeral: project.ephemeral !== undefined,
    adopted: project.adopted,
    created_at: project.created_at,
  };
}

const needs = [...resetNeeds, "ids", "keys", "ended", "rulesets", "onProject", "exports"] as const;

export const projectSlice = slice(needs, (ports: ProjectPorts) => [
  row({
    method: "GET",
    path: "/__sim/projects",
    access: "control",
    summary: "Lists the projects with their keys",
    reply: z.strictObject({ projects: z.array(ShownProject) }),
    handle: () => ({ projects: ports.worlds.current.projects.map((it) => show(ports, it)) }),
  }),
  row({
    method: "POST",
    path: "/__sim/projects",
    access: "control",
    summary: "Makes a project for one test",
    body: ProjectOrder,
    status: 201,
    errors: [404, 409],
    reply: TestProject,
    handle({ body: { name, like, flags, settings, owner }, call }) {
      const order = {
        name: name || undefined,
        like: templateOf(ports, like),
        flags: Object.entries(flags ?? {}),
        settings: settings ?? {},
      };
      const made = makeProject(ports, order);
      ports.ended.begin(made.project.id, owner, ports.log.lastRequest);
      ports.onProject({ id: made.project.id, name: name || null });
      return accessTo(made, call.origin);
    },
  }),
  row({
    method: "DELETE",
    path: "/__sim/projects/:project",
    access: "control",
    summary: "Removes a project that was made for a test, with all its data",
    errors: [404, 409],
    reply: z.strictObject({ deleted: z.int().describe("The project's id") }),
    handle({ call }) {
      const id = pathNumber(call, "project", "project");
      removeProject(ports, projectOf(ports.worlds, id));
      return { deleted: id };
    },
  }),
]);
