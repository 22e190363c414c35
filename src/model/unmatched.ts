import type { TrafficLine } from "./traffic.ts";
import type { Worlds } from "./world.ts";

/** What is said about a path that is not there; by these words the journal knows such requests again. */
export const unknownPathText = "Endpoint not found.";
/** The same in strict mode; the method and the path follow. */
export const notEmulatedText = "phx-sim does not emulate";

/** A request as the journal has it, as far as it says whether it was rejected (also for the page, which has no Node). */
interface Rejectable {
  readonly rejected?: { readonly reason: string; readonly detail: string };
}

/** Was it a request to a path that is not there? It is one of the rejected ones. */
export const isUnmatched = ({ rejected }: Rejectable): boolean =>
  rejected !== undefined &&
  ((rejected.reason === "not_found" && rejected.detail === unknownPathText) ||
    (rejected.reason === "not_emulated" && rejected.detail.startsWith(`${notEmulatedText} `)));

/** True if the request is the project's, or has no project's key and arrived while the project existed. */
export function countsFor(
  { worlds }: { worlds: Pick<Worlds, "projectById"> },
  line: TrafficLine,
  project: number,
): boolean {
  if (line.project !== null) return line.project === project;
  const found = worlds.projectById(project);
  return found !== undefined && line.n > (found.ephemeral?.after_request ?? 0);
}
