import { partitionOf } from "../model/answer.ts";

/**
 * Whose request it is, for the tape: the `X-Test-Id` header, or the project. Each client has its own place in the
 * sequences and its own ids, so that tests at the same time do not disturb each other.
 */
export function clientOf(
  headers: Readonly<Record<string, string | undefined>>,
  project: number | null | undefined,
): string {
  const partition = partitionOf(headers);
  if (partition !== undefined) return `test:${partition}`;
  return typeof project === "number" ? `project:${project}` : "";
}
