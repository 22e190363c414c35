import type { Call } from "../http/call.ts";
import { forwardedAddress } from "../ingest/client-address.ts";

/** The contract's spelling counts before the usual one. */
const forwardedNames = ["http_x_forwarded_for", "x-forwarded-for"];

/**
 * The caller's address: the first entry of `HTTP_X_FORWARDED_FOR`, else of `X-Forwarded-For`, else the peer;
 * an entry that is no address is skipped. Upstream rust/feature-flags.
 */
export function addressOf(call: Call): string {
  for (const name of forwardedNames) {
    const address = forwardedAddress(call.headers[name]?.split(",", 1)[0] ?? "");
    if (address !== undefined) return address;
  }
  return call.peer;
}
