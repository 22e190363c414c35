import { assertDocs } from "../assert/docs.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** The rows with their docs: rows without shapes have a table. */
export const withControlDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = assertDocs[`${endpoint.methods[0]} ${endpoint.path}`];
    return docs ? { ...endpoint, docs: () => docs } : endpoint;
  });
