import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";

/** Where systems keep the authorities that they trust, in one file. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Variables that name a file of authorities. Those that add to the usual ones need no copy of them. */
const trustVariables: readonly (readonly [name: string, adds: boolean])[] = [
  ["NODE_EXTRA_CA_CERTS", true],
  ["SSL_CERT_FILE", false],
  ["REQUESTS_CA_BUNDLE", false],
  ["CURL_CA_BUNDLE", false],
];

function textIn(file: string | undefined): string | undefined {
  try {
    return file ? readFileSync(file, "utf8") : undefined;
  } catch {
    // A file that is not there names no authority; clients say so themselves.
    return undefined;
  }
}

const systemRoots = (): string =>
  systemBundles.map(textIn).find((text) => text?.includes("BEGIN CERTIFICATE")) ??
  rootCertificates.join("\n");

/** Writes the text beside the authority, under a name of its own; processes that do the same do no harm. */
function kept(text: string, folder: string): string {
  const file = join(folder, `bundle-${createHash("sha256").update(text).digest("hex").slice(0, 12)}.pem`);
  if (textIn(file) === text) return file;
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
  return file;
}

/**
 * Variables with which programs trust an authority besides those that they trust already: files that `env` names, else
 * the system's (Node's own where the system has none in one file).
 * @param certFile Its certificate, PEM; copies of the others' are kept beside it
 * @throws Error when the certificate cannot be read or a file cannot be written
 */
export function trustEnv(
  certFile: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const ours = readFileSync(certFile, "utf8");
  const roots = systemRoots();
  const bundleOf = (name: string, adds: boolean): string => {
    const before = textIn(env[name]) ?? (adds ? undefined : roots);
    return before === undefined ? certFile : kept(`${before.trimEnd()}\n${ours}`, dirname(certFile));
  };
  return Object.fromEntries(trustVariables.map(([name, adds]) => [name, bundleOf(name, adds)]));
}
