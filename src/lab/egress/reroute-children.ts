import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { writeDraft } from "../../kernel/base/draft.ts";
import { bothCases, nodeOptions, proxyNames, proxyVariables } from "./child-guard.ts";
import { type RerouteRules, rerouteTest, rerouteVariable } from "./reroute.ts";

interface ChildRerouteOptions extends RerouteRules {
  /** Certificate (PEM file) of the sim's forward proxy; undefined: it has none, and only Node is rerouted. */
  certFile: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

const noProxy = "The sim is no proxy (--no-proxy): only Node processes are rerouted, other programs are not.";

const othersNote = (hosts: readonly string[]): string =>
  `${hosts.join(", ")}: only Node processes are rerouted, as the proxy's certificates are not good for it.`;

function withoutProxy({ certFile, env }: ChildRerouteOptions): string | undefined {
  const taken = proxyNames.flatMap(bothCases).filter((name) => env[name]);
  if (taken.length > 0)
    return `${taken.join(", ")} is set and left as it is: only Node processes are rerouted, other programs are not.`;
  return certFile === undefined ? noProxy : undefined;
}

/**
 * Variables that send a child's requests to the sim: of Node by a preload, of others by a proxy that they trust.
 * @throws TypeError when a host cannot be read; Error when a bundle of certificates cannot be written
 */
export function rerouteChildren(options: ChildRerouteOptions) {
  const { url, hosts = [], certFile, env } = options;
  rerouteTest({ hosts });
  const reason = withoutProxy(options);
  const byProxy = reason === undefined && certFile !== undefined;
  return {
    env: {
      NODE_OPTIONS: nodeOptions(env.NODE_OPTIONS),
      [rerouteVariable]: JSON.stringify({ url, hosts }),
      ...(byProxy && { ...proxyVariables(env, url), ...trustEnv(certFile, env) }),
    },
    byProxy,
    notes: reason !== undefined ? [reason] : hosts.length > 0 ? [othersNote(hosts)] : [],
  };
}

/** The files in which systems keep the authorities that they trust. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Variables that name a file of authorities. Those that add to the default ones need no copy of them. */
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
    // A missing file names no authority; clients report it themselves.
    return undefined;
  }
}

const systemRoots = (): string =>
  systemBundles.map(textIn).find((text) => text?.includes("BEGIN CERTIFICATE")) ?? rootCertificates.join("\n");

/** Writes the bundle beside the authority, named by its content, so that several processes can do it at once. */
function kept(text: string, folder: string): string {
  const file = join(folder, `bundle-${createHash("sha256").update(text).digest("hex").slice(0, 12)}.pem`);
  if (textIn(file) === text) return file;
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeDraft(draft, text, 0o644);
  renameSync(draft, file);
  return file;
}

/** Variables for one more trusted authority. @throws Error when a file cannot be read or written */
export function trustEnv(certFile: string, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const ours = readFileSync(certFile, "utf8");
  const roots = systemRoots();
  const bundleOf = (name: string, adds: boolean): string => {
    const before = textIn(env[name]) ?? (adds ? undefined : roots);
    return before === undefined ? certFile : kept(`${before.trimEnd()}\n${ours}`, dirname(certFile));
  };
  return Object.fromEntries(trustVariables.map(([name, adds]) => [name, bundleOf(name, adds)]));
}
