import type { Sim } from "../../src/index.ts";

/** The OpenAPI document as clients see it, and what the contract tests need of it. */

export type Schema = { readonly [key: string]: unknown };

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly schema: Schema;
}

interface Content {
  readonly [mediaType: string]: { readonly schema: Schema };
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface SimDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation extends Omit<OperationObject, "parameters"> {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** Asks a sim for its document, without a socket. */
export async function documentOf(sim: Sim, origin = "http://sim.test"): Promise<SimDocument> {
  const answer = await sim.handle(new Request(`${origin}/__sim/openapi.json`));
  if (answer.status !== 200) throw new Error(`no document: ${answer.status} ${await answer.text()}`);
  return answer.json() as Promise<SimDocument>;
}

export const operationsOf = ({ paths }: SimDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
    })),
  );
