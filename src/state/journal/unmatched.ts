/** The detail of errors for unknown paths, by which the journal recognizes such requests. */
export const unknownPathText = "Endpoint not found.";
/** The start of the detail in strict mode; the method and the path follow. */
export const notEmulatedText = "phx-sim does not emulate";

interface Rejectable {
  readonly rejected?: { readonly reason: string; readonly detail: string } | null;
}

/** True for a request that was rejected because its path does not exist. */
export const isUnmatched = ({ rejected }: Rejectable): boolean =>
  !!rejected &&
  ((rejected.reason === "not_found" && rejected.detail === unknownPathText) ||
    (rejected.reason === "not_emulated" && rejected.detail.startsWith(`${notEmulatedText} `)));
