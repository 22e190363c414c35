import { BlockList, isIPv6 } from "node:net";
import type { Call } from "../../../kernel/http/call.ts";
import type { Dialect } from "../../../state/documents/dialect.ts";
import { addressOf } from "./flags-request.ts";

/** Parts of user agents, in lower case. Upstream posthog-js, utils/bot-detection.ts (DEFAULT_BLOCKED_UA_STRS). */
const crawlers: readonly string[] = [
  ..."amazonbot amazonproductbot app.hypefactors.com applebot archive.org_bot awariobot".split(" "),
  ..."backlinksextendedbot baiduspider bingbot bingpreview chrome-lighthouse dataforseobot deepscan".split(" "),
  ..."duckduckbot facebookexternal facebookcatalog hubspot ia_archiver leikibot linkedinbot".split(" "),
  ..."meta-externalagent mj12bot msnbot nessus petalbot pinterestbot prerender rogerbot sebot-wa".split(" "),
  ..."sitebulb slackbot slurp trendictionbot turnitin twitterbot vercel-screenshot vercelbot".split(" "),
  ..."yandexbot zoombot bot.htm bot.php bot/ crawler ahrefsbot ahrefssiteaudit semrushbot".split(" "),
  ..."siteauditbot splitsignalbot gptbot oai-searchbot chatgpt-user perplexitybot sentryuptimebot".split(" "),
  ..."uptimerobot google-hoteladsverifier adsbot-google apis-google duplexweb-google".split(" "),
  ..."feedfetcher-google google-read-aloud googlebot googleother google-cloudvertexbot".split(" "),
  ..."googleweblight mediapartners-google storebot-google google-inspectiontool bytespider".split(" "),
  ...["screaming frog", "better uptime bot", "google favicon", "google web preview"],
];

/** Browsers of test tools (dialect row crawlers). */
const testBrowsers: readonly string[] = ["headlesschrome", "lightpanda", "cypress"];

/** Networks that the operators of crawlers publish. Upstream rust/feature-flags, utils/bot_detection.rs. */
const networks: readonly (readonly [network: string, prefix: number])[] = [
  // Googlebot
  ["66.249.64.0", 19],
  ["2001:4860:4801::", 48],
  // Bingbot
  ...["13.66.139.0", "13.66.144.0", "40.77.167.0", "40.77.177.0", "52.167.144.0", "65.55.210.0"].map(
    (network) => [network, 24] as const,
  ),
  ...["157.55.39.0", "207.46.13.0"].map((network) => [network, 24] as const),
  ["40.77.178.0", 23],
  ["40.77.188.0", 22],
  // YandexBot
  ...["5.45.192.0", "5.255.192.0", "37.9.64.0", "37.140.128.0", "77.88.0.0", "93.158.128.0"].map(
    (network) => [network, 18] as const,
  ),
  ["95.108.128.0", 17],
  ["141.8.128.0", 18],
  ["178.154.128.0", 18],
  ["2a02:6b8::", 29],
  // Applebot
  ...["17.22.237.0", "17.22.245.0", "17.22.253.0", "17.241.75.0", "17.241.219.0", "17.241.227.0"].map(
    (network) => [network, 24] as const,
  ),
];

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv6(address) ? "ipv6" : "ipv4");

const addresses = new BlockList();
for (const [network, prefix] of networks) addresses.addSubnet(network, prefix, familyOf(network));

/** True for a request of a crawler, by its user agent or its address: the service decides no flag for it. */
export function isOfCrawler(call: Call, dialect: Dialect): boolean {
  const agent = call.headers["user-agent"]?.toLowerCase() ?? "";
  const isNamed = (name: string): boolean => agent.includes(name);
  if (crawlers.some(isNamed) || (dialect === "production" && testBrowsers.some(isNamed))) return true;
  const address = addressOf(call);
  return address !== "" && addresses.check(address, familyOf(address));
}
