import type { FeatureFlag, Project } from "../model/world.ts";
import type { Result } from "./ruleset.ts";

/**
 * Makes the function that reports flags which cannot be evaluated: each flag once for each reason, and again after the
 * flag was changed.
 * @param project Its name is part of the line where there are several.
 */
export function createFailureNotices(
  notice: (text: string) => void,
): (results: readonly Result[], project: Project, hasOthers: boolean) => void {
  // A changed flag is another document.
  const reported = new WeakMap<FeatureFlag, Set<string>>();
  return (results, project, hasOthers) => {
    for (const { compiled, decision } of results) {
      const { code, description } = decision.reason;
      if (!decision.failed && code !== "missing_dependency") continue;
      const { flag } = compiled;
      const codes = reported.get(flag) ?? new Set();
      if (codes.has(code)) continue;
      reported.set(flag, codes.add(code));
      const shown = JSON.stringify(flag.key);
      const where = hasOthers ? ` of ${project.name}` : "";
      notice(
        `the flag ${shown}${where} cannot be evaluated and is off: ${description} (${code}); \`phx-sim flags explain ${shown}\` shows why`,
      );
    }
  };
}
