import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "../frame/desk.ts";
import { accessControlRows, accessControls } from "./access-controls.ts";
import { actions } from "./actions.ts";
import { alerts } from "./alerts.ts";
import { annotations } from "./annotations.ts";
import type { ResourceKind } from "./kind.ts";
import { kindRows, openResources } from "./kind-rows.ts";
import { storedOrganizationKinds } from "./organization-kinds.ts";
import { storedProjectKinds } from "./project-kinds.ts";
import { surveyRows } from "./survey-rows.ts";
import { surveys } from "./surveys.ts";

/** Every kind of resources. */
export const resourceKinds: readonly ResourceKind[] = [
  actions,
  annotations,
  surveys,
  alerts,
  accessControls,
  ...storedProjectKinds,
  ...storedOrganizationKinds,
];

/** The endpoints of all kinds. */
export function resourceKindEndpoints(desk: ResourceDesk): Endpoint[] {
  const resources = openResources(desk);
  return [
    ...resourceKinds.flatMap((kind) => kindRows(desk, resources, kind)),
    ...surveyRows(desk),
    ...accessControlRows(desk),
  ];
}
