/** What SDKs put beside an app's own properties without a `$`; posthog-js copies campaign parameters of the address. */
const added = new Set(
  [
    "token distinct_id",
    "utm_source utm_medium utm_campaign utm_content utm_term utm_name gclid gad_source gclsrc dclid gbraid wbraid",
    "fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid epik qclid sccid irclid _kx",
  ].flatMap((line) => line.split(" ")),
);

/** Is the property the SDK's and not the app's? */
export const isSdkProperty = (name: string): boolean => name.startsWith("$") || added.has(name);

/** Is the event the SDK's, such as `$pageview` or `$identify`? */
export const isSdkEvent = (name: string): boolean => name.startsWith("$");
