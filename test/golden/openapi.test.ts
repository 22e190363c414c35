import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { documentOf, operationsOf, type Parameter } from "../contract/document.ts";

const textOf = ({ in: place, name, schema }: Parameter): string => `${place} ${name} ${JSON.stringify(schema)}`;

/** The distinct parameters, each by its name; those after the first of a name have a number, too. */
function namesOf(parameters: readonly Parameter[]): Map<string, string> {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const parameter of parameters) {
    const [text, { name }] = [textOf(parameter), parameter];
    if (names.has(text)) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    names.set(text, count === 1 ? name : `${name}#${count}`);
  }
  return names;
}

/** `npx vitest run test/golden --update` writes the file anew; its diff shows what clients will notice. */
test("the OpenAPI document: its operations, their parameters and the schemas", async () => {
  await using sim = await startSim();
  const document = await documentOf(sim);
  const operations = operationsOf(document);
  const names = namesOf(operations.flatMap((it) => it.parameters));
  const lines = operations.flatMap((it) => {
    const statuses = Object.entries(it.responses);
    const replies = statuses.filter(([status]) => Number(status) < 400);
    const errors = statuses.flatMap(([status]) => (Number(status) >= 400 ? [status] : []));
    const parameters = it.parameters.map((parameter) => names.get(textOf(parameter)));
    const facts = `${it.operationId}, ${it.tags.join()}, ${JSON.stringify(it.security)}`;
    return [
      `${it.method} ${it.path} (${parameters.join(", ")}) ${facts}, errors ${errors.join()}`,
      ...(it.requestBody ? [`  body ${JSON.stringify(it.requestBody)}`] : []),
      `  ${replies.map(([status, { content = {} }]) => `${status} ${JSON.stringify(content)}`).join(" ")}`,
    ];
  });
  const parameters = [...names].map(([text, name]) => `${name}: ${text}`);
  const schemas = Object.entries(document.components.schemas).map(([name, it]) => `${name} ${JSON.stringify(it)}`);
  await expect([...lines, "", ...parameters, "", ...schemas, ""].join("\n")).toMatchFileSnapshot("openapi.txt");
});
