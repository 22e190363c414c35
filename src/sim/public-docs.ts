import { z } from "zod";
import type { Endpoint, EndpointDocs } from "../kernel/http/endpoint.ts";
import { errorReplies, textShape } from "../kernel/http/error-schemas.ts";
import { captureDocs } from "../service/capture/endpoint/capture-shapes.ts";
import { parametersOf, serviceErrors } from "../service/capture/endpoint/docs-shapes.ts";
import { sdkDocs } from "../service/capture/endpoint/sdk-shapes.ts";
import { flagDocs } from "../service/flags/endpoint/public-shapes.ts";

/** The public paths that read the header (capture/project.ts). */
const paths: ReadonlySet<string> = new Set([
  "/capture",
  "/batch",
  "/e",
  "/i/v0/e",
  "/track",
  "/engage",
  "/i/v0/ai/batch",
  "/i/v0/ai",
  "/s",
  "/i/v1/analytics/events",
  "/i/v1/ai/events",
  "/flags",
  "/decide",
  "/flags/definitions",
  "/api/feature_flag/local_evaluation",
  "/api/projects/:project_id/feature_flags/local_evaluation",
  "/api/projects/:project_id/feature_flags/:key/remote_config",
  "/array/:token/config",
  "/array/:token/config.js",
  "/array/:token/array.js",
  "/api/surveys",
  "/api/early_access_features",
  "/api/product_tours",
  "/api/web_experiments",
  "/api/push_subscriptions",
  "/i/v1/logs",
  "/i/v1/metrics",
  "/i/v1/traces",
  "/i/v0/ai/otel",
]);

const headers = parametersOf({
  "X-Phx-Project": z
    .string()
    .describe("Not the service's: number or public key of the project of the request; replaces its key"),
});

const refusal = (family: Endpoint["family"]) =>
  family === "service" ? serviceErrors(400) : errorReplies(textShape, 400);

const withProjectHeader = ({ path, family }: Pick<Endpoint, "path" | "family">, docs: EndpointDocs): EndpointDocs =>
  paths.has(path)
    ? { ...docs, headers: [...(docs.headers ?? []), ...headers], replies: { ...refusal(family), ...docs.replies } }
    : docs;

const table = new Map<string, EndpointDocs>(Object.entries({ ...captureDocs, ...flagDocs, ...sdkDocs }));

/** The endpoints with their docs, which are in separate tables, so that a start does not load them. */
export const withIngestionDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = endpoint.docs ? undefined : table.get(`${endpoint.methods[0]} ${endpoint.path}`);
    return docs ? { ...endpoint, docs: () => withProjectHeader(endpoint, docs) } : endpoint;
  });
