import { hostRuleFor, isLoopbackHost, placeOf, readHostRule, serviceHosts } from "../../../kernel/http/host-rules.ts";

/** Where requests are sent: this machine (`loopback`), the real service (`production`), or any other host. */
export interface SendTarget {
  url: URL;
  kind: "loopback" | "production" | "other";
}

const production = serviceHosts.map(readHostRule);

/** Reads an address; its path goes before each request's. @throws TypeError when it is not one of http or https */
export function readTarget(text: string): SendTarget {
  const full = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new TypeError("it must be an http address such as http://127.0.0.1:7490");
  if (url.username !== "" || url.password !== "") throw new TypeError("it must not have a login in it");
  if (url.search !== "" || url.hash !== "") throw new TypeError("it must end with its path: no ? and no #");
  if (isLoopbackHost(url.hostname)) return { url, kind: "loopback" };
  return { url, kind: hostRuleFor(production, placeOf(url)) ? "production" : "other" };
}

interface Permits {
  yes: boolean;
  production: boolean;
  /** Hosts that may be sent to: `staging.example`, `*.staging.example`, `staging.example:8443`. */
  hosts: readonly string[];
}

/** `dry`: nothing may be sent; `refused`: `yes` is given, and something else is missing. */
export type Leave = { may: "send" | "dry" } | { may: "refused"; why: string };

/**
 * This machine: always. Other hosts need `yes` and the host's name; the real service a further option.
 * @throws TypeError for a text that names no host
 */
export function leaveFor({ url, kind }: SendTarget, { yes, production: knows, hosts }: Permits): Leave {
  const rules = hosts.map((text) => {
    const rule = readHostRule(text);
    if (rule.host === "") throw new TypeError(`${JSON.stringify(text)} names no host`);
    return rule;
  });
  if (kind === "loopback") return { may: "send" };
  if (!yes) return { may: "dry" };
  if (!hostRuleFor(rules, placeOf(url)))
    return { may: "refused", why: `${url.host} is not this machine: add --allow-host ${url.hostname}` };
  if (kind === "production" && !knows)
    return { may: "refused", why: `${url.host} is the real service: add --i-know-this-is-production` };
  return { may: "send" };
}
