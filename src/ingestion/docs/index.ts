import type { Endpoint, EndpointDocs } from "../../http/endpoint.ts";
import { captureDocs } from "./capture.ts";
import { flagDocs } from "./flags.ts";
import { withProjectHeader } from "./project-header.ts";
import { sdkDocs } from "./sdk.ts";

const table = new Map<string, EndpointDocs>(Object.entries({ ...captureDocs, ...flagDocs, ...sdkDocs }));

/**
 * The rows with what is known of this room's: the docs stand in tables of their own, so that a start, which
 * loads the capture rows, does not pay for them.
 */
export const withIngestionDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = endpoint.docs ? undefined : table.get(`${endpoint.methods[0]} ${endpoint.path}`);
    return docs ? { ...endpoint, docs: () => withProjectHeader(endpoint, docs) } : endpoint;
  });
