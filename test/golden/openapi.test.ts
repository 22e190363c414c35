import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { documentOf, operationsOf } from "../contract/document.ts";

/** `npx vitest run test/golden --update` writes the file anew; its diff shows what clients will notice. */
test("the OpenAPI document, one line for each operation and each schema", async () => {
  await using sim = await startSim();
  const document = await documentOf(sim);
  const operations = operationsOf(document).map((it) => {
    const replies = Object.entries(it.responses).filter(([status]) => Number(status) < 400);
    return [
      `${it.method} ${it.path}`,
      `  ${it.operationId}, ${it.tags.join()}, ${JSON.stringify(it.security)}`,
      ...it.parameters.map((parameter) => `  ${parameter.in} ${parameter.name} ${JSON.stringify(parameter.schema)}`),
      ...(it.requestBody ? [`  body ${JSON.stringify(it.requestBody)}`] : []),
      ...replies.map(([status, reply]) => `  ${status} ${JSON.stringify(reply.content ?? {})}`),
      `  errors ${Object.keys(it.responses).filter((status) => Number(status) >= 400)}`,
    ].join("\n");
  });
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${name} ${JSON.stringify(schema)}`,
  );
  await expect([...operations, "", ...schemas, ""].join("\n")).toMatchFileSnapshot("openapi.txt");
});
