import { SimError } from "../../../kernel/base/errors.ts";

export const refuse = (detail: string, attr = "query"): SimError => new SimError("invalid_input", detail, { attr });

/** A part of a query that the service has and the sim does not compute. */
export const unsupported = (what: string): SimError => refuse(`${what} is not supported.`);
