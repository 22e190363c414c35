import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { unknownParameter } from "../http/row.ts";

/** The endpoint; one without shapes rejects all parameters. */
export const withKnownQuery = (endpoint: Endpoint): Endpoint =>
  endpoint.docs
    ? endpoint
    : {
        ...endpoint,
        /** @throws SimError invalid_input */
        handle(call: Call) {
          for (const name of call.query.keys()) throw unknownParameter(name, []);
          return endpoint.handle(call);
        },
      };
