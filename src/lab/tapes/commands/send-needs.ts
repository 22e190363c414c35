import { counted } from "../../../kernel/base/text.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import type { Style } from "../../../kernel/command/style.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import { type Filling, fillingOf, type GivenKeys, keyNeeded } from "../send/plan.ts";
import type { Survey } from "../send/survey.ts";
import type { SendSettings } from "./options.ts";

/** The variable that gives the value of one placeholder: `PHX_SIM_SECRET_PASSWORD_1` for `{{secret:password#1}}`. */
const secretVariable = ({ kind, number }: Placeholder): string => `PHX_SIM_SECRET_${kind.toUpperCase()}_${number}`;

/** A key is sent in headers and URLs as it is. @throws Failure usage */
function keyOf(name: string, key: string | undefined): string | undefined {
  if (key === undefined || key === "") return undefined;
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw new Failure("usage", `${name} is not a key: it has blanks or letters that no key has`);
}

export const keysOf = (
  values: Pick<SendSettings["values"], "token" | "personal-key" | "fill">,
  env: Shell["env"],
): GivenKeys => ({
  project: keyOf("--token", values.token),
  personal: keyOf("--personal-key", values["personal-key"] ?? env.PHX_SIM_PERSONAL_KEY),
  secret: (placeholder) => env[secretVariable(placeholder)] || undefined,
  ...(values.fill === "redacted" && { fill: values.fill }),
});

const optionFor = { project: "--token", personal: "--personal-key" } as const;

export interface Need {
  placeholder: string;
  requests: number;
  first: number;
  option: string | null;
  variable: string;
  /** What `--exclude` takes to leave it out; null: only its route can be left out. */
  path: string | null;
  filling: Filling;
}

const isMissing = ({ filling }: Need): boolean => filling === "needs_key" || filling === "unknown";

export const needsOf = ({ placeholders }: Survey, keys: GivenKeys): Need[] =>
  [...placeholders.values()].map((found) => {
    const key = keyNeeded(found.kind);
    return {
      placeholder: found.text,
      requests: found.requests,
      first: found.first,
      option: key === undefined ? null : optionFor[key],
      variable: secretVariable(found),
      path: found.place === undefined ? null : `path:${found.place}`,
      filling: fillingOf(found, keys),
    };
  });

const remedyOf = ({ option, variable, path }: Need): string =>
  option === null
    ? `set ${variable}, leave it out with --exclude ${path ?? "ROUTE"}, or send a stand-in with --fill redacted`
    : `give ${option}`;

export function fillingText(need: Need, style: Style): string {
  const { filling, option, variable } = need;
  if (isMissing(need)) return style.bad(`missing, ${remedyOf(need)}`);
  if (filling === "stand_in") return "a stand-in, --fill redacted";
  return `from ${option ?? variable}`;
}

/** @throws Failure usage when the tape has placeholders that nothing fills */
export function checkKeys(survey: Survey, keys: GivenKeys): void {
  const missing = needsOf(survey, keys).filter(isMissing);
  if (missing.length === 0) return;
  const shown = missing
    .slice(0, 5)
    .map((need) => `${need.placeholder} (first in exchange ${need.first}): ${remedyOf(need)}`);
  const more = missing.length > 5 ? [`and ${missing.length - 5} more`] : [];
  const what = `nothing was sent: the tape holds no value for ${counted(missing.length, "secret")}`;
  throw new Failure("usage", clean(`${what}: ${[...shown, ...more].join("; ")}`, 1500));
}
