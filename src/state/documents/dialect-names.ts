/** The behaviour where the contract and the live service differ. */
export type Dialect = "documented" | "production";

/** The behaviour of a dialect, and the option for the other one. */
export const dialectNotes: Readonly<Record<Dialect, string>> = {
  documented: "as the API documentation says; --dialect production answers as the live service does",
  production: "as the live service answers; --dialect documented answers as the API documentation says",
};
