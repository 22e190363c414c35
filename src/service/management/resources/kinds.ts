import { eventDefinitions } from "../definitions/event-definitions.ts";
import { eventSchemas } from "../definitions/event-schemas.ts";
import { propertyDefinitions } from "../definitions/property-definitions.ts";
import { propertyGroups } from "../definitions/property-groups.ts";
import { accessControls } from "./access-controls.ts";
import { actions } from "./actions.ts";
import { alerts } from "./alerts.ts";
import { annotations } from "./annotations.ts";
import { earlyAccessFeatures } from "./early-access-features.ts";
import { experiments } from "./experiments.ts";
import type { ResourceKind } from "./kind.ts";
import { storedOrganizationKinds } from "./organization-kinds.ts";
import { storedProjectKinds } from "./project-kinds.ts";
import { surveys } from "./surveys.ts";

/** Every kind of resources. */
export const resourceKinds: readonly ResourceKind[] = [
  actions,
  annotations,
  surveys,
  earlyAccessFeatures,
  experiments,
  eventDefinitions,
  propertyDefinitions,
  propertyGroups,
  eventSchemas,
  alerts,
  accessControls,
  ...storedProjectKinds,
  ...storedOrganizationKinds,
];
