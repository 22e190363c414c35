import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { SimError } from "../../kernel/errors.ts";
import type { Desk } from "../../model/desk.ts";
import { listsOwner } from "../../model/public-lists.ts";
import type { Project, World } from "../../model/world.ts";
import { answered, inProject } from "./answer.ts";
import { privateProject } from "./keys.ts";

type Prompt = World["prompts"][number];

const scope = "llm_prompt:read";

const byVersion = (a: Prompt, b: Prompt): number => b.version - a.version;

/** Newest first. */
const promptsOf = (desk: Desk, project: Project): Prompt[] =>
  desk.worlds.current.prompts.filter((prompt) => prompt.project === listsOwner(project)).toSorted(byVersion);

/** An absent `label` stays absent: @posthog/ai refuses null. */
const showPrompt = ({ name, prompt, version, label }: Prompt) => ({
  name,
  prompt,
  version,
  ...(label !== undefined && { label }),
});

/** `?version=` and `?label=` narrow; without them the newest version is meant. */
function chosen(call: Call, prompts: readonly Prompt[]): Prompt {
  const version = call.query.get("version");
  const label = call.query.get("label");
  const found = prompts.find(
    (prompt) =>
      prompt.name === call.params.name &&
      (!version || prompt.version === Number(version)) &&
      (!label || prompt.label === label),
  );
  if (!found) throw new SimError("not_found", "Not found.");
  return found;
}

/** The newest version of each name. */
const latest = (prompts: readonly Prompt[]): Prompt[] => {
  const names = new Map<string, Prompt>();
  for (const prompt of prompts) if (!names.has(prompt.name)) names.set(prompt.name, prompt);
  return [...names.values()];
};

function list(desk: Desk, project: Project) {
  const results = latest(promptsOf(desk, project)).map(showPrompt);
  return { count: results.length, next: null, previous: null, results };
}

type Show = (call: Call, desk: Desk, project: Project) => object;

const rows: readonly (readonly [tail: string, show: Show, summary: string])[] = [
  ["", (_call, desk, project) => list(desk, project), "Prompts of a project, newest versions"],
  [
    "/name/:name",
    (call, desk, project) => showPrompt(chosen(call, promptsOf(desk, project))),
    "A prompt by name, version or label",
  ],
];

/** GET /api/environments/@current/llm_prompts/…, and under /api/projects. */
export const promptEndpoints = (desk: Desk): Endpoint[] =>
  ["environments", "projects"].flatMap((parent) =>
    rows.map(
      ([tail, show, summary]): Endpoint => ({
        methods: ["GET"],
        path: `/api/${parent}/:project_id/llm_prompts${tail}`,
        family: "service",
        summary,
        scope,
        handle(call) {
          const project = privateProject(call, desk, scope);
          return inProject(project, () => answered(show(call, desk, project), project));
        },
      }),
    ),
  );
