import { eventDefinitions, propertyDefinitions } from "../definitions/definitions.ts";
import { accessControls } from "./access-controls.ts";
import { actions } from "./actions.ts";
import { earlyAccessFeatures } from "./early-access-features.ts";
import { experiments } from "./experiments.ts";
import type { ResourceKind } from "./kind.ts";
import { storedKinds } from "./stored-kinds.ts";
import { surveys } from "./surveys.ts";

export const resourceKinds: readonly ResourceKind[] = [
  actions,
  surveys,
  earlyAccessFeatures,
  experiments,
  eventDefinitions,
  propertyDefinitions,
  accessControls,
  ...storedKinds,
];
