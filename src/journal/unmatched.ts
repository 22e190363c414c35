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
