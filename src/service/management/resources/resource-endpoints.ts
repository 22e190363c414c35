import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import type { ManagementDesk } from "../desk.ts";
import { accessControlRows } from "./access-controls.ts";
import { actionRows } from "./action-rows.ts";
import { kindRows, openResources } from "./kind-rows.ts";
import { resourceKinds } from "./kinds.ts";
import { surveyRows } from "./survey-rows.ts";

export function resourceKindEndpoints(desk: ManagementDesk): Endpoint[] {
  const resources = openResources(desk);
  return [
    ...resourceKinds.flatMap((kind) => kindRows(desk, resources, kind)),
    ...actionRows(desk),
    ...surveyRows(desk),
    ...accessControlRows(desk),
  ];
}
