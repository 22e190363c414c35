import { z } from "zod";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { boolean, json } from "../fields.ts";

/** How a shared page looks. What is not set is off. */
export interface PageSettings {
  whitelabel?: boolean;
  noHeader?: boolean;
  showInspector?: boolean;
  legend?: boolean;
  detailed?: boolean;
  hideExtraDetails?: boolean;
  theme?: Theme;
}
type Theme = "light" | "dark" | "system";
type Switch = Exclude<keyof PageSettings, "theme">;

/** In the order in which the service adds them to a page's data. */
const switches: readonly Switch[] = [
  "whitelabel",
  "noHeader",
  "showInspector",
  "legend",
  "detailed",
  "hideExtraDetails",
];

const isTheme = (value: unknown): value is Theme =>
  value === "light" || value === "dark" || value === "system";

/** One setting as it is kept; undefined when it is not set, "wrong" when it cannot be. */
function readSwitch(value: Json | undefined): boolean | undefined | "wrong" {
  if (value === undefined || value === null) return undefined;
  const result = boolean().safeParse(value);
  return result.success ? result.data : "wrong";
}

/** The settings in a written object, without unknown ones; undefined when one is wrong. */
function readSettings(written: JsonObject): JsonObject | undefined {
  const kept: JsonObject = {};
  for (const name of switches) {
    const value = readSwitch(own(written, name));
    if (value === "wrong") return undefined;
    if (value !== undefined) kept[name] = value;
  }
  const theme = own(written, "theme") ?? null;
  if (theme !== null && !isTheme(theme)) return undefined;
  return theme === null ? kept : { ...kept, theme };
}

/** Settings in a body: null, or an object. Upstream PostHog/posthog posthog/api/sharing.py. */
export const settingsField = json().transform((value, context) => {
  const read = isObject(value) ? readSettings(value) : value === null ? null : undefined;
  if (read === undefined) {
    context.addIssue({ code: "custom", params: { detail: "Invalid settings format" } });
    return z.NEVER;
  }
  return read;
});

const off = new Set(["0", "false", "no", "off"]);

/** The kept settings under those that the address asks for: `?noHeader`, `?legend=false`. */
export function pageSettings(kept: JsonObject | null, query: URLSearchParams): PageSettings {
  const settings: PageSettings = {};
  for (const name of switches) {
    const asked = query.get(name);
    settings[name] = asked === null ? kept?.[name] === true : !off.has(asked.trim().toLowerCase());
  }
  const theme = [query.get("theme"), kept?.theme].find(isTheme);
  return theme ? { ...settings, theme } : settings;
}

/** What the page's data says of them: those that are on. */
export function shownSettings(settings: PageSettings): { [N in Switch]?: true } & { theme?: Theme } {
  const on = switches.filter((name) => settings[name] === true).map((name) => [name, true]);
  return { ...Object.fromEntries(on), ...(settings.theme && { theme: settings.theme }) };
}
