/** Campaign parameters of the page's address. posthog-js sends each of them with every event, most of them null. */
export const campaignParameters: readonly string[] = [
  "utm_source utm_medium utm_campaign utm_content utm_term utm_name gclid gad_source gclsrc dclid gbraid wbraid",
  "fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid epik qclid sccid irclid _kx",
].flatMap((line) => line.split(" "));

/** The service does not copy these to the person. */
const notCopied = ["bfcid", "oppref"];

const campaign: ReadonlySet<string> = new Set([...campaignParameters, ...notCopied]);

const envelope: ReadonlySet<string> = new Set(["token", "distinct_id"]);

/** True for a campaign parameter such as `utm_source`. */
export const isCampaignParameter = (name: string): boolean => campaign.has(name);

/** True for a property that an SDK adds by itself: names with `$`, campaign parameters, `token` and `distinct_id`. */
export const isSdkProperty = (name: string): boolean =>
  name.startsWith("$") || campaign.has(name) || envelope.has(name);

/** True for an event that an SDK sends by itself, such as `$pageview` or `$identify`. */
export const isSdkEvent = (name: string): boolean => name.startsWith("$");
