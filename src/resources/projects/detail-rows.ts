import type { z } from "zod";
import { denied, type Level, levels } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Request } from "../row.ts";
import type { Visible } from "./access.ts";
import { ProjectBody } from "./body.ts";
import type { ProjectChanges } from "./change.ts";
import { deleteProjects } from "./removal.ts";
import { ProjectDetail, type ProjectViews } from "./show.ts";

/** What one project answers to, wherever it is addressed. */
interface DetailRow {
  methods: readonly ("GET" | "POST" | "PATCH" | "PUT" | "DELETE")[];
  /** Behind the project's id. */
  path: string;
  summary: string;
  scope: "project:read" | "project:write";
  status?: number;
  body?: z.ZodType<ProjectBody>;
  reply?: z.ZodType;
  handle(request: Request<ProjectBody>, at: Visible): object | undefined;
}

/** @throws SimError permission_denied */
function requireLevel(level: Level, minimum: Level): void {
  if (level < minimum) throw denied("You don't have sufficient permissions in the project.");
}

interface Parts {
  views: ProjectViews;
  changes: ProjectChanges;
}

/** Reading and changing one project; every member may, but for what is noted. */
export const detailRows = (desk: ResourceDesk, { views, changes }: Parts): readonly DetailRow[] => [
  {
    methods: ["GET"],
    path: "",
    summary: "A project, by id or as `@current`",
    scope: "project:read",
    reply: ProjectDetail,
    handle: (_, { project, level }) => views.detail(project, level),
  },
  {
    methods: ["PATCH", "PUT"],
    path: "",
    summary: "Changes a project and its settings",
    scope: "project:write",
    body: ProjectBody,
    reply: ProjectDetail,
    handle: ({ body }, { project, level }) => views.detail(changes.change(project, body()), level),
  },
  {
    methods: ["DELETE"],
    path: "",
    summary: "Deletes a project with all its documents; for admins",
    scope: "project:write",
    status: 204,
    handle(_, { project, level }) {
      requireLevel(level, levels.admin);
      deleteProjects(desk, [project]);
      return undefined;
    },
  },
  {
    methods: ["PATCH", "POST"],
    path: "/reset_token",
    summary: "Gives a project a new key in the place of the old one; for admins",
    scope: "project:write",
    reply: ProjectDetail,
    handle(_, { project, level }) {
      requireLevel(level, levels.admin);
      return views.detail(changes.resetKey(project), level);
    },
  },
];
