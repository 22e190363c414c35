export { checkEvents } from "./plan/check-events.ts";
export { checkPlan } from "./plan/check-plan.ts";
export { type DefineOptions, definePlan, type EventSource, type PlanEvents } from "./plan/define-plan.ts";
export { type InferOptions, inferPlan, mergePlans } from "./plan/infer-plan.ts";
export { planTypes } from "./plan/plan-types.ts";
export { PlanError, type PlanProblem } from "./plan/problems.ts";
export { findPlan, planFrom, readPlan } from "./plan/read-plan.ts";
export { reportViolations } from "./plan/report.ts";
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
} from "./plan/types.ts";
