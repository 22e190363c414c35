import type { Stepwise } from "../../kernel/base/work.ts";
import type { LintCode } from "./codes.ts";
import type { LintEvent, LintRequest } from "./request.ts";

export interface Remarks {
  /**
   * @param at The event; for the request as a whole, its name is null
   * @param detail The observation, without captured values that may be private
   * @param subject The part that is wrong; remarks with equal code, event and subject make one finding
   */
  report(
    code: LintCode,
    at: { readonly event: string | null; readonly seq: number | null },
    detail: string,
    subject?: string,
  ): void;
  /** Removes the remarks with this code and subject, of every event. */
  withdraw(code: LintCode, subject: string): void;
}

/** Examines the requests of one project, in order; what it remembers is bounded. */
export interface Rule {
  /** Comes before the request's events. In steps if it may take long. */
  onRequest?(request: LintRequest, remarks: Remarks): Stepwise<void> | undefined;
  onEvent?(event: LintEvent, remarks: Remarks): void;
  /** As `onEvent`, without dropped events. */
  onKept?(event: LintEvent, remarks: Remarks): void;
}

export interface LintPort {
  hasGroup(project: number, type: string, key: string): boolean;
  /** Shares of a flag's variants, in percent; undefined if an override, a condition or groups decide. */
  variantShares(
    project: number,
    flag: string,
  ): readonly { readonly variant: string; readonly percentage: number }[] | undefined;
  /** The flags of running experiments with a metric that counts these events. */
  flagsMeasuredBy(project: number, event: string): readonly string[];
}

export interface RuleContext {
  project: number;
  port: LintPort;
  /** True if every request of the project was examined, from its first on. */
  isWhole(): boolean;
}
