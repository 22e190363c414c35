import { flagDocs } from "../../flags/endpoint/public-shapes.ts";
import type { Endpoint, EndpointDocs } from "../../http/endpoint.ts";
import { errorReplies, textShape } from "../../http/error-schemas.ts";
import { captureDocs } from "./capture-docs.ts";
import { parameter, serviceErrors } from "./docs-shapes.ts";
import { sdkDocs } from "./sdk-docs.ts";

/** The paths of this room whose project the header may name (ingest/project.ts). */
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

const header = parameter(
  "X-Phx-Project",
  "Not the service's: number or public key of the project that the request counts as, whatever key it carries or lacks",
);

/** What an unknown project is refused with. */
const refusal = (family: Endpoint["family"]) =>
  family === "service" ? serviceErrors(400) : errorReplies(textShape, 400);

/** A row's docs with the header, where it is read. */
const withProjectHeader = (
  { path, family }: Pick<Endpoint, "path" | "family">,
  docs: EndpointDocs,
): EndpointDocs =>
  paths.has(path)
    ? {
        ...docs,
        headers: [...(docs.headers ?? []), header],
        replies: { ...refusal(family), ...docs.replies },
      }
    : docs;

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
