export { checkEvents, checkPlan, reportViolations } from "./lab/plan/check-plan.ts";
export { type DefineOptions, definePlan, type EventSource, type PlanEvents } from "./lab/plan/define-plan.ts";
export { type InferOptions, inferPlan, mergePlans } from "./lab/plan/infer-plan.ts";
export type {
  EventEntry,
  Plan,
  PlanFile,
  PlannableEvent,
  PlannedEvent,
  PlanResult,
  PropertyEntry,
  Violation,
  ViolationKind,
} from "./lab/plan/plan.ts";
export { PlanError, type PlanProblem } from "./lab/plan/plan.ts";
export { planTypes } from "./lab/plan/plan-types.ts";
export { findPlan, planFrom, readPlan } from "./lab/plan/read-plan.ts";
