import { isObject, type Json, own } from "../../../src/kernel/json.ts";
import { headerOf, type RequestInFull } from "../../api/requests.ts";
import { targetParts } from "./target.ts";

const product = /^(posthog[\w-]*|phx-sim)\/(\S+)/i;

const libNames: Readonly<Record<string, string>> = { web: "posthog-js" };

const textAt = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** What an SDK says of itself in the events that the request carried. */
function libOf({ carried }: RequestInFull): string | undefined {
  const properties = carried[0]?.properties;
  const lib = properties && textAt(own(properties, "$lib"));
  if (lib === undefined) return undefined;
  const version = textAt(own(properties ?? {}, "$lib_version"));
  const name = Object.hasOwn(libNames, lib) ? libNames[lib] : lib;
  return version === undefined ? name : `${name} ${version}`;
}

function productOf(text: string | undefined): string | undefined {
  const [, name, version] = product.exec(text ?? "") ?? [];
  return name === undefined ? undefined : `${name} ${version}`;
}

/** The SDK that sent a request: as its events say it, else its headers; undefined when neither names one. */
export const sdkOf = (request: RequestInFull): string | undefined =>
  libOf(request) ??
  productOf(headerOf(request, "posthog-sdk-info")) ??
  productOf(headerOf(request, "user-agent"));

const keyNames = ["api_key", "token", "$token"] as const;

const keyIn = (value: Json | undefined): string | undefined => {
  if (!isObject(value)) return undefined;
  for (const name of keyNames) {
    const found = textAt(own(value, name));
    if (found !== undefined) return found;
  }
  const properties = own(value, "properties");
  return isObject(properties) ? keyIn(properties) : undefined;
};

/** The first item of a batch, or of a body that is a list. */
function firstItem(body: Json): Json | undefined {
  if (Array.isArray(body)) return body[0];
  const batch = isObject(body) ? own(body, "batch") : undefined;
  return Array.isArray(batch) ? batch[0] : undefined;
}

/** One way to tell the project of a request: where it stands, and what stands there. */
type Look = (request: RequestInFull) => string | undefined;

const looks: readonly (readonly [where: string, look: Look])[] = [
  ["its X-Phx-Project header", (it) => it.project_header ?? undefined],
  ["the project in its path", (it) => /^\/api\/(?:projects|environments)\/([^/?]+)/.exec(it.target)?.[1]],
  ["the key in its path", (it) => /^\/(?:array|surveys|site_app)\/(phc_[^/?]+)/.exec(it.target)?.[1]],
  ["the key in its body", (it) => keyIn(it.body)],
  ["the key of its first event", (it) => keyIn(firstItem(it.body))],
  [
    "the key in its query",
    ({ target }) => {
      const query = new URLSearchParams(targetParts(target).query);
      return query.get("token") ?? query.get("api_key") ?? undefined;
    },
  ],
  ["its Authorization header", (it) => headerOf(it, "authorization")],
];

/** Where a request says whose it is, and what it says. */
export interface ProjectFound {
  readonly where: string;
  readonly said: string;
}

/** How the project of a request was found, or looked for in vain; undefined when it names none. */
export function projectFoundBy(request: RequestInFull): ProjectFound | undefined {
  for (const [where, look] of looks) {
    const said = look(request);
    if (said !== undefined) return { where, said };
  }
  return undefined;
}
