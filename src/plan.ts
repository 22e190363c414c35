export { checkEvents, checkPlan, reportViolations } from "./plan/check-plan.ts";
export { type DefineOptions, definePlan, type EventSource, type PlanEvents } from "./plan/define-plan.ts";
export { type InferOptions, inferPlan, mergePlans } from "./plan/infer-plan.ts";
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
} from "./plan/plan.ts";
export { PlanError, type PlanProblem } from "./plan/plan.ts";
export { planTypes } from "./plan/plan-types.ts";
export { findPlan, planFrom, readPlan } from "./plan/read-plan.ts";
