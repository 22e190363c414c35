import { SimError, StorageRefusal, shortageOf, storageTrouble } from "../base/errors.ts";
import type { Family } from "./family.ts";
import { json, type Reply, text, withHeaders } from "./reply.ts";

const uncoded: ReadonlySet<string> = new Set(["internal", "query_timeout"]);

const wireCode = (error: SimError): string => (uncoded.has(error.code) ? "error" : error.code);

/** `{type, code, detail, attr}`: all four keys always, as the service's exception handler does. */
function serviceBody(error: SimError): Reply {
  const { attr = null } = error.extra;
  return json({ type: error.type, code: wireCode(error), detail: error.message, attr }, error.status);
}

const bodies: Record<Family, (error: SimError) => Reply> = {
  // An unknown key is the one JSON answer of the capture edge: the shape of the old Django capture.
  capture: (error) => (error.code === "invalid_api_key" ? serviceBody(error) : text(error.message, error.status)),
  "capture-v1": (error) =>
    json(
      { error: error.code, error_description: error.message, error_uri: "https://posthog.com/docs/api" },
      error.status,
    ),
  flags: (error) =>
    error.status === 400 || error.status === 413 ? text(error.message, error.status) : serviceBody(error),
  service: serviceBody,
  management: serviceBody,
  control: (error) =>
    json(
      {
        code: error.code,
        detail: error.message,
        hint: error.extra.hint ?? null,
        pointer: error.extra.pointer ?? null,
        ...error.extra.data,
      },
      error.status,
    ),
};

export function errorReply(family: Family, error: SimError): Reply {
  const { retryAfter } = error.extra;
  const reply = bodies[family](error);
  return retryAfter === undefined ? reply : withHeaders(reply, "retry-after", String(retryAfter));
}

/** Anything thrown, as a SimError: a refusal of the disk, a shortage, or else a bug, without its text. */
export function asSimError(thrown: unknown): SimError {
  if (thrown instanceof SimError) return thrown;
  const shortage = shortageOf(thrown);
  if (shortage !== undefined) {
    const [what, hint] = shortage;
    return new SimError("not_ready", what, { cause: thrown, hint, retryAfter: 1 });
  }
  const trouble = storageTrouble(thrown);
  if (trouble === undefined) return new SimError("internal", "A server error occurred.", { cause: thrown });
  const fix = thrown instanceof StorageRefusal ? "" : ": free some space, then try again";
  return storageFailed(thrown, `${trouble}; nothing was changed${fix}`);
}

export const storageFailed = (cause: unknown, hint?: string): SimError =>
  new SimError("storage_failed", "transient error, please retry", { cause, ...(hint !== undefined && { hint }) });
