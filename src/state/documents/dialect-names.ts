export type Dialect = "documented" | "production";

export const dialectNotes: Readonly<Record<Dialect, string>> = {
  documented: "as the API documentation says; --dialect production answers as the live service does",
  production: "as the live service answers; --dialect documented answers as the API documentation says",
};
