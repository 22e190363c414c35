import { campaignParameters } from "./sdk-properties.ts";

const surroundings = [
  "$app_build $app_name $app_namespace $app_version $browser $browser_version $device_type $current_url",
  "$pathname $os $os_version $referring_domain $referrer $screen_height $screen_width $viewport_height",
  "$viewport_width $raw_user_agent",
].flatMap((line) => line.split(" "));

const names = [...surroundings, ...campaignParameters];

const initialOf = (name: string): string => `$initial_${name.replace(/^\$/, "")}`;

/**
 * Event properties that become person properties by themselves, and the name under which their first
 * value is kept: `$browser` → `$initial_browser`. Upstream eventToPersonProperties.ts and
 * personInitialAndUTMProperties.
 */
export const copiedProperties: ReadonlyMap<string, string> = new Map(names.map((name) => [name, initialOf(name)]));

/** The other way round: flags read an absent initial property from the current one. Upstream rust/feature-flags. */
export const currentOfInitial: ReadonlyMap<string, string> = new Map(names.map((name) => [initialOf(name), name]));
