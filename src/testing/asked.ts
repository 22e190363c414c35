import type { Tenant } from "../client/api.ts";

/** What a matcher is asked. */
export interface Asked {
  readonly tenant: Tenant;
  /** Is it `.not`? Then it must be quiet before "there is none" counts. */
  readonly isNot: boolean;
  /** The call as it was written, e.g. `not.toHaveCaptured("signup")`. */
  readonly title: string;
}

/** Whether it holds, and what is said of it when that is not as wanted. */
export interface Judged {
  readonly pass: boolean;
  readonly text: string;
}

/** A few lines below the call. */
export const told = ({ title }: Asked, ...lines: readonly string[]): string =>
  [title, "", ...lines].join("\n");

/**
 * The report's text when that is what was thrown; everything else goes on. By its shape: a suite may hold two copies
 * of this package, one of each module system.
 */
export function reportText(error: unknown): string {
  if (error instanceof Error && "report" in error) {
    const { report } = error;
    if (typeof report === "object" && report !== null && "text" in report && typeof report.text === "string")
      return report.text;
  }
  throw error;
}
