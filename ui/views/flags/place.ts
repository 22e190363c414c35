import { termText } from "../../../src/filter/print.ts";
import { link, project, route } from "../../app/location.ts";

/** A flag's place in the page; what is searched for stays. Where all projects are shown, `of` says whose it is. */
export const flagHref = (flag: { readonly key: string; readonly project: number }, tab?: string): string =>
  link("flags", [flag.key], {
    of: project.value === undefined ? flag.project : undefined,
    q: route.value.params.q,
    tab,
  });

/** The events that tell that an app used the flag. */
export const usesHref = (key: string): string =>
  link("events", [], { f: `event:$feature_flag_called ${termText(["prop", "$feature_flag"], key)}` });
