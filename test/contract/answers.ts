import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Operation, SimDocument } from "./document.ts";

/** What is wrong with an answer; nothing when it is as documented. */
export type AnswerCheck = (operation: Operation, answer: Response, text: string) => string[];

/** Answers with JSON or with nothing, which a document cannot say. */
const maybeEmpty = new Set(["/api/projects/{project_id}/feature_flags/{key}/remote_config"]);

const pointer = (...steps: readonly string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

const withoutParameters = (type: string): string => type.split(";")[0] ?? "";

const mediaTypeOf = (answer: Response): string => withoutParameters(answer.headers.get("content-type") ?? "");

const parse = (text: string): unknown => JSON.parse(text);

/** Holds answers against the document: their status, their media type, and JSON against its schema. */
export function checkerOf(document: SimDocument): AnswerCheck {
  const ajv = addFormats.default(new Ajv2020({ strict: false, validateFormats: true }));
  ajv.addSchema({ ...document }, "sim");

  function problemsOfJson({ method, path }: Operation, status: string, text: string): string[] {
    const schema = pointer(
      "paths",
      path,
      method.toLowerCase(),
      "responses",
      status,
      "content",
      "application/json",
      "schema",
    );
    const validate = ajv.getSchema(`sim#${schema}`);
    if (!validate) return [`no schema at ${schema}`];
    if (validate(parse(text))) return [];
    return [`${status} does not fit: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`];
  }

  return (operation, answer, text) => {
    const status = String(answer.status);
    const documented = operation.responses[status];
    if (answer.status >= 500 || !documented) return [`status ${status} is not documented: ${text.slice(0, 500)}`];
    const types = Object.keys(documented.content ?? {}).map(withoutParameters);
    if (text === "" && (types.length === 0 || maybeEmpty.has(operation.path))) return [];
    const type = mediaTypeOf(answer);
    if (!types.includes(type)) return [`${status} has the type "${type}": ${text.slice(0, 200)}`];
    return type === "application/json" ? problemsOfJson(operation, status, text) : [];
  };
}
