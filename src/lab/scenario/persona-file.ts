import { resolve } from "node:path";
import type { Json } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { problemLines } from "../../kernel/base/problem.ts";
import { personaOf } from "../generate/personas.ts";
import { type Persona, personaNames } from "../generate/shapes.ts";
import { checkScenario } from "./check-scenario.ts";
import { nowhere, parserOf, readText } from "./layers.ts";
import { parseJson } from "./parse.ts";
import { inOrder, type PlacedProblem, shownProblem } from "./problems.ts";
import { completed } from "./short-form.ts";
import { type Tree, type TreeEntry, treeOf } from "./tree.ts";

/** The pointer to the only persona of a scenario. */
const inScenario = "/traffic/0/persona";

/** Reads a persona from a file, JSON or YAML, or from an object. @throws TypeError with a line for each mistake */
export async function readPersona(source: string | object): Promise<Persona> {
  const problems: PlacedProblem[] = [];
  const tree =
    typeof source === "string"
      ? await treeOfFile(source, problems)
      : treeOf(JSON.parse(JSON.stringify(source)) as Json, nowhere);
  const checked = tree && checkScenario(completed(scenarioWith(tree), (it) => problems.push(it)));
  problems.push(...(checked?.problems ?? []));
  const persona = checked?.scenario?.organizations[0]?.projects[0]?.traffic?.[0]?.persona;
  if (problems.length === 0 && persona !== undefined) return personaOf(persona);
  const shown = inOrder(problems, []).map((it) => shownProblem({ ...it, pointer: it.pointer.replace(inScenario, "") }));
  throw new TypeError(problemLines(shown, process.cwd(), "persona").join("\n"));
}

async function treeOfFile(name: string, problems: PlacedProblem[]): Promise<Tree | undefined> {
  const file = resolve(name);
  const source = readText(file);
  if ("reason" in source) {
    const hint = meantOf(name, personaNames) ?? `built-in personas are ${personaNames.join(", ")}`;
    const place = { source: { file, text: "" }, offset: -1 };
    problems.push({ place, pointer: "", text: source.reason, ...(source.isWrongName && { hint }) });
    return undefined;
  }
  const parsed = await (parserOf(file) ?? parseJson)(source);
  problems.push(...parsed.problems);
  return parsed.tree;
}

/** A scenario whose project has this persona, so that a persona is checked as in a scenario. */
function scenarioWith(persona: Tree): Tree {
  const { place } = persona;
  const entry = (key: string, tree: Tree): [string, TreeEntry] => [key, { key: place, tree }];
  const traffic: Tree = { kind: "object", place, entries: new Map([entry("persona", persona)]) };
  const list: Tree = { kind: "list", place, items: [traffic] };
  return { kind: "object", place, entries: new Map([entry("traffic", list)]) };
}
