import type { Endpoint } from "../../http/endpoint.ts";
import { SimError } from "../../kernel/errors.ts";
import type { ResourceDesk } from "../desk.ts";
import { organizationEndpoint, type ProjectRow, projectEndpoints, type Request } from "../row.ts";
import type { Home } from "./records.ts";

/** A row that projects and organizations have alike. */
interface Row<Body> extends Omit<ProjectRow<Body>, "handle"> {
  handle(request: Request<Body> & Home): ReturnType<ProjectRow<Body>["handle"]>;
}

/** The contract's URLs are organizations', projects' are what the service's tools use. */
export function everywhere<Body = never>(desk: ResourceDesk, row: Row<Body>): Endpoint[] {
  const { contract: _, ...rest } = row;
  return [organizationEndpoint<Body>(desk, row), ...projectEndpoints<Body>(desk, rest)];
}

/** Some of the service's code looks for a project in the URL. @throws SimError error, in the production dialect */
export function requireProject({ dialect }: Pick<ResourceDesk, "dialect">, { project }: Home): void {
  if (project || dialect === "documented") return;
  throw new SimError("error", "A server error occurred.");
}
