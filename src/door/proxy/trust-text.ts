/** What a client needs to trust the authority, by kind: one row, one way. */
export const trustRecipes = (
  certFile: string,
  spki: string,
): readonly (readonly [who: string, how: string])[] => [
  ["Node", `NODE_EXTRA_CA_CERTS=${certFile}`],
  ["curl", `--cacert ${certFile}`],
  ["Python requests", `REQUESTS_CA_BUNDLE=${certFile}`],
  ["Chromium", `--ignore-certificate-errors-spki-list=${spki}`],
];

/** One line for the one who wonders why a client does not get through. */
export function distrustText(host: string, { certFile, spki }: { certFile: string; spki: string }): string {
  const recipes = trustRecipes(certFile, spki).map(([who, how]) => `${who}: ${how}`);
  const whose = host === "" ? "an unnamed host" : host;
  return `a client does not trust phx-sim's certificate for ${whose}; ${recipes.join("; ")}; see \`phx-sim ca trust\``;
}
