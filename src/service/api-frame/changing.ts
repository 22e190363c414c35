import type { Draft } from "../../state/documents/world.ts";
import type { CallPlace } from "./access.ts";
import type { ResourceDesk } from "./desk.ts";
import type { Request } from "./row.ts";

export type ResourceRequest<Body = unknown> = Request<Body> &
  CallPlace & { readonly project?: { readonly id: number } };

export interface Changing {
  readonly desk: ResourceDesk;
  readonly draft: Draft;
  readonly request: ResourceRequest;
  readonly now: string;
}
