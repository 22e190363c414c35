import { textIn } from "../../../src/kernel/base/json.ts";
import { firstItem, projectKeyIn } from "../../api/project-key.ts";
import { headerOf, type RequestInFull } from "../../api/requests.ts";
import { targetParts } from "./row-texts.ts";

const product = /^(posthog[\w-]*|phx-sim)\/(\S+)/i;

const libNames: Readonly<Record<string, string>> = { web: "posthog-js" };

/** The SDK from the properties of the request's events. */
function libOf({ carried }: RequestInFull): string | undefined {
  const { properties = {} } = carried[0] ?? {};
  const lib = textIn(properties, "$lib");
  if (lib === "") return undefined;
  const version = textIn(properties, "$lib_version");
  const name = Object.hasOwn(libNames, lib) ? libNames[lib] : lib;
  return version === "" ? name : `${name} ${version}`;
}

function productOf(text: string | undefined): string | undefined {
  const [, name, version] = product.exec(text ?? "") ?? [];
  return name === undefined ? undefined : `${name} ${version}`;
}

/** The SDK of a request, from its events or headers. */
export const sdkOf = (request: RequestInFull): string | undefined =>
  libOf(request) ?? productOf(headerOf(request, "posthog-sdk-info")) ?? productOf(headerOf(request, "user-agent"));

/** Finds the project key or id of a request in one place. */
type Look = (request: RequestInFull) => string | undefined;

const looks: readonly (readonly [where: string, look: Look])[] = [
  ["its X-Phx-Project header", (it) => it.project_header ?? undefined],
  ["the project in its path", (it) => /^\/api\/(?:projects|environments)\/([^/?]+)/.exec(it.target)?.[1]],
  ["the key in its path", (it) => /^\/(?:array|surveys|site_app)\/(phc_[^/?]+)/.exec(it.target)?.[1]],
  ["the key in its body", (it) => projectKeyIn(it.body)],
  ["the key of its first event", (it) => projectKeyIn(firstItem(it.body))],
  [
    "the key in its query",
    ({ target }) => {
      const query = new URLSearchParams(targetParts(target).query);
      return query.get("token") ?? query.get("api_key") ?? undefined;
    },
  ],
  ["its Authorization header", (it) => headerOf(it, "authorization")],
];

/** Where a request names its project, and the value. */
interface ProjectFound {
  readonly where: string;
  readonly value: string;
}

/** Where a request names its project; undefined if nowhere. */
export function projectFoundBy(request: RequestInFull): ProjectFound | undefined {
  for (const [where, look] of looks) {
    const value = look(request);
    if (value !== undefined) return { where, value };
  }
  return undefined;
}
