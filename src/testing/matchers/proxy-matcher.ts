import type { ProxyCheckOptions, ProxyReport } from "../../lab/proxy-check/client.ts";
import { type MatcherCall, type MatcherOutcome, messageOf } from "./matcher.ts";

type Finding = ProxyReport["findings"][number];

const findingLines = ({ code, what, requests, detail, cause, fix }: Finding): string[] => [
  `${code}: ${what}`,
  `  at ${requests.join(", ")}: ${detail}`,
  `  likely: ${cause}`,
  `  fix: ${fix}`,
];

/** What SDKs send arrives through the proxy as it was sent. */
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
