import type { Call } from "./call.ts";

const bearerPattern = /^Bearer\s+(\S+)\s*$/i;

/** The key of an `Authorization: Bearer …` header. */
export const bearerOf = (call: Call): string | undefined =>
  bearerPattern.exec(call.headers.authorization ?? "")?.[1];

/** The project key in the query, under either name that clients use. */
export const queryToken = (call: Call): string | undefined =>
  call.query.get("token") || call.query.get("api_key") || undefined;
