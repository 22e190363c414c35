import { json, type Reply, withHeaders } from "../../http/reply.ts";
import { SimError, withNote } from "../../kernel/errors.ts";
import type { Note } from "../../model/traffic.ts";
import type { Project } from "../../model/world.ts";
import type { JsonBody } from "./body.ts";

/** Answers follow the world document, which may change at any time: nothing may keep a copy unasked. */
export const fresh = <R extends Reply>(reply: R): R => withHeaders(reply, "cache-control", "no-cache");

/** 200 with a JSON object, and for the journal whose call it was and what the body said. */
export const answered = (value: object, project: Project | null, body?: JsonBody): Reply<Note> => ({
  ...fresh(json(value)),
  note: noteOf(project, body),
});

/** What the journal keeps of a call that carries no events. */
export const noteOf = (project: Project | null, body?: JsonBody): Note => ({
  project: project?.id ?? null,
  ...(body && { steps: body.steps, text: body.text }),
});

/** Does the work; a refusal is journaled as the project's, as far as the project is known by then. */
export function inProject<T>(project: Project, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof SimError ? withNote(thrown, noteOf(project)) : thrown;
  }
}
