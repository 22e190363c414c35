import { type ConfigSection, SectionError } from "../../../kernel/command/config-file.ts";
import { RedactionRuleError, type RedactionRules, readRules } from "./rules.ts";

declare module "../../../kernel/command/config-file.ts" {
  interface Config {
    /** The project's rules for tapes; no option, as a flag could not express them. */
    readonly redaction?: Required<RedactionRules>;
  }
}

/** `"redaction"` in phx-sim.config.json. */
export const redactionSection: ConfigSection = {
  name: "redaction",
  read(value) {
    try {
      return readRules(value);
    } catch (error) {
      if (!(error instanceof RedactionRuleError)) throw error;
      throw new SectionError(error.path, error.message, { cause: error });
    }
  },
};
