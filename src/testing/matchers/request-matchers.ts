import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import type { Contact } from "../../lab/assert/contact-rows.ts";
import { printable } from "../../lab/assert/match/printable.ts";
import type { ProxyCheckOptions, ProxyReport } from "../../lab/proxy-check/client.ts";
import { capped, requestLine } from "./event-matchers.ts";
import { type ContactOptions, causesOr, type MatcherCall, type MatcherOutcome, messageOf } from "./matcher.ts";

const sharedLine = (count: number): string =>
  `${count} of them ${count === 1 ? "carries" : "carry"} no project's key: such requests count for every project that exists when they arrive`;

/** Requests to paths that the service does not have. For a project they include those without a project's key. */
export async function noUnmatchedRequests(call: MatcherCall): Promise<MatcherOutcome> {
  await call.tenant.settle();
  const unmatched = await call.tenant.requests.unmatched();
  const pass = unmatched.length === 0;
  const unattributed = unmatched.filter(({ project }) => project === null).length;
  const lines = [
    `requests to paths that do not exist: ${unmatched.length}`,
    ...capped(unmatched.map(requestLine), "requests"),
    ...(unattributed > 0 ? [sharedLine(unattributed)] : []),
  ];
  const text = messageOf(call, ...(pass ? ["every request went to a path that exists"] : lines));
  const found = unmatched.map(({ n, method, target, rejected }) => ({ n, method, target, hint: rejected?.hint }));
  return { pass, text, report: { title: call.title, text, hints: [], unmatched: found } };
}

const contactLine = ({ n, at, method, target, kind, inspect }: Contact): string =>
  `  request #${n} ${at} ${kind}: ${method} ${printable(target)}${inspect === null ? "" : `\n    ${printable(inspect, 200)}`}`;

export async function contacted(call: MatcherCall, { since, timeoutMs }: ContactOptions = {}): Promise<MatcherOutcome> {
  const { tenant, isNot } = call;
  if (isNot) await tenant.settle({ timeoutMs });
  const waitMs = isNot ? undefined : assertionsOf(tenant).within(timeoutMs);
  const contacts = await tenant.requests.contacts({ since, waitMs });
  if (contacts.length === 0) {
    const hint = "check the client's host and key, and whether the user has opted out";
    const causes = await causesOr(call, hint);
    return { pass: false, text: messageOf(call, "no request of an SDK has arrived", ...causes) };
  }
  const unattributed = contacts.filter(({ project }) => project === null).length;
  const lines = [
    `requests of SDKs: ${contacts.length}, oldest first`,
    ...capped(contacts.toReversed().map(contactLine), "requests"),
    ...(unattributed > 0 ? [sharedLine(unattributed)] : []),
  ];
  return { pass: true, text: messageOf(call, ...lines) };
}

type Finding = ProxyReport["findings"][number];

const findingLines = ({ code, what, requests, detail, cause, fix }: Finding): string[] => [
  `${code}: ${what}`,
  `  at ${requests.join(", ")}: ${detail}`,
  `  likely: ${cause}`,
  `  fix: ${fix}`,
];

export async function passThroughProxy(
  call: MatcherCall,
  url: string,
  options: ProxyCheckOptions = {},
): Promise<MatcherOutcome> {
  const { passed, findings, requests } = await call.tenant.proxies.check(url, options);
  if (passed) return { pass: true, text: messageOf(call, `${requests.length} requests went through ${url} unchanged`) };
  const problems = findings.filter(({ level }) => level === "problem");
  const text = messageOf(call, ...problems.flatMap(findingLines));
  // nothing is known of a proxy that does not answer: no success for `.not` either
  const pass = call.isNot && problems.some(({ code }) => code === "unreachable");
  return { pass, text, report: { title: call.title, text, hints: problems.map(({ fix }) => fix) } };
}
