import { createHash, createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { der, sequence } from "../../../kernel/codec/der.ts";

/** The authority that signs the proxy's certificates. One per user, never in a project. */
export interface Ca {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** The end of the authority that this one has just replaced; null: there was none. */
  readonly replaced: string | null;
}

export class CaError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "CaError";
    this.hint = hint;
  }
}

/** The only names, with their subdomains, that its certificates are valid for: this limits a stolen key. */
const caNames: readonly string[] = ["posthog.com", "localhost"];

/** The only addresses: a constraint on names does not limit them. Each an address and its mask, in hex. */
const caAddresses: readonly string[] = ["7f000000ff000000", `${"00".repeat(15)}01${"ff".repeat(16)}`];

const day = 24 * 3600 * 1000;

/** The longest life of a certificate that Apple's systems trust. */
const life = 825 * day;

/** Where the user's authority is kept: `PHX_SIM_CA_DIR`, else `~/.phx-sim/ca`. */
export const defaultCaFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env.PHX_SIM_CA_DIR || join(homedir(), ".phx-sim", "ca");

const filesIn = (folder: string) => ({ certFile: join(folder, "ca.pem"), keyFile: join(folder, "ca.key") });

/** The user's authority; made on first use, and again when it has expired. @throws CaError */
export async function openCa(folder = defaultCaFolder()): Promise<Ca> {
  const found = await readCa(folder);
  if (found !== undefined && !isExpired(found)) return found;
  await makeCa(folder);
  const made = await readCa(folder);
  if (made === undefined || isExpired(made))
    throw new CaError(`no authority could be kept in ${folder}`, "check that it is writable");
  return found === undefined ? made : { ...made, replaced: endOf(found) };
}

/** @throws CaError when one of the two files is missing, or they are not a valid pair */
async function readCa(folder = defaultCaFolder()): Promise<Ca | undefined> {
  const files = filesIn(folder);
  const [cert, key] = await Promise.all([readText(files.certFile), readText(files.keyFile)]);
  if (cert === undefined && key === undefined) return undefined;
  const hint = `move ${folder} away; a new one is made on first use (clients must then trust the new one)`;
  if (cert === undefined || key === undefined) {
    throw new CaError(`${folder} has only one of ca.pem and ca.key`, hint);
  }
  checkPair(cert, key, folder, hint);
  await closeToOthers(files.keyFile);
  return { cert, key, ...files, replaced: null };
}

const endOf = ({ cert }: Pick<Ca, "cert">): string => new Date(new X509Certificate(cert).validTo).toISOString();

const isExpired = (ca: Pick<Ca, "cert">): boolean => Date.parse(endOf(ca)) < Date.now();

function checkPair(cert: string, key: string, folder: string, hint: string): void {
  try {
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error("the key does not match the certificate");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CaError(`the certificate authority in ${folder} cannot be used: ${why}`, hint, cause);
  }
}

/** A copied folder may have wider permissions. */
async function closeToOthers(keyFile: string): Promise<void> {
  if (process.platform === "win32") return;
  const { mode } = await stat(keyFile);
  if ((mode & 0o077) !== 0) await chmod(keyFile, 0o600);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CaError(`${file} cannot be read`, "check its owner and permissions", error);
  }
}

const commonName = "phx-sim local CA: only for posthog.com and localhost";

/** NameConstraints of RFC 5280, 4.2.1.10: names and addresses that are permitted. */
function nameConstraints(): Buffer {
  const [permitted, dnsName, ipAddress] = [0xa0, 0x82, 0x87] as const;
  const bases = [
    ...caNames.map((it) => der(dnsName, Buffer.from(it))),
    ...caAddresses.map((it) => der(ipAddress, Buffer.from(it, "hex"))),
  ];
  return sequence(der(permitted, ...bases.map((it) => sequence(it))));
}

/** It signs certificates of hosts only, no other authority (a path length of 0). */
async function generateCa(): Promise<{ cert: string; key: string }> {
  const x509 = await import("@peculiar/x509");
  const signingAlgorithm = {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    // positive
    serialNumber: `4${randomBytes(16).toString("hex").slice(1)}`,
    name: [{ O: ["phx-sim"] }, { CN: [commonName] }],
    // clocks differ
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + life - day),
    signingAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      new x509.Extension("2.5.29.30", true, new Uint8Array(nameConstraints())),
    ],
  });
  const key = createPrivateKey({
    key: Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)),
    format: "der",
    type: "pkcs8",
  });
  return { cert: `${cert.toString("pem")}\n`, key: key.export({ type: "pkcs8", format: "pem" }).toString() };
}

async function makeCa(folder: string): Promise<void> {
  const { cert, key } = await generateCa();
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    // mkdtemp's folder is open to its owner only.
    const fresh = await mkdtemp(`${folder}.new-`);
    const files = filesIn(fresh);
    await writeFile(files.keyFile, key, { mode: 0o600 });
    await writeFile(files.certFile, cert, { mode: 0o644 });
    await discardExpired(folder);
    await rename(fresh, folder).catch(() => settle(fresh, folder));
  } catch (cause) {
    throw new CaError(`no certificate authority can be kept in ${folder}`, "set PHX_SIM_CA_DIR", cause);
  }
}

/** Another process may have renewed it meanwhile. */
async function discardExpired(folder: string): Promise<void> {
  const found = await readCa(folder);
  if (found === undefined || !isExpired(found)) return;
  const files = filesIn(folder);
  await rm(files.certFile, { force: true });
  await rm(files.keyFile, { force: true });
}

/** Another process was first, or the folder existed: moves the missing files into it. */
async function settle(fresh: string, folder: string): Promise<void> {
  const [from, to] = [filesIn(fresh), filesIn(folder)];
  const taken = (await readText(to.keyFile)) !== undefined;
  if (!taken) {
    await rename(from.keyFile, to.keyFile);
    await rename(from.certFile, to.certFile);
  }
  await rm(fresh, { recursive: true, force: true });
}

export interface CaFacts {
  cert_file: string;
  key_file: string;
  subject: string;
  names: readonly string[];
  /** False for one of an older version: its certificates are valid for every address. */
  limits_addresses: boolean;
  /** False for one of an older version: it could sign another authority, and lives for ten years. */
  limits_path: boolean;
  /** The end of the authority that this one has just replaced, to be trusted in its place; null: there was none. */
  replaced: string | null;
  valid_to: string;
  /** SHA-256 of the certificate, as browsers show it. */
  fingerprint: string;
  /** SHA-256 of its public key in base64, for Chromium's `--ignore-certificate-errors-spki-list`. */
  spki: string;
}

/** BasicConstraints of an authority, with a path length of 0. */
const pathOfNone = Buffer.from("30060101ff020100", "hex");

export function factsOf({ cert, certFile, keyFile, replaced }: Ca): CaFacts {
  const certificate = new X509Certificate(cert);
  const publicKey = certificate.publicKey.export({ type: "spki", format: "der" });
  return {
    cert_file: certFile,
    key_file: keyFile,
    subject: certificate.subject.replaceAll("\n", ", "),
    names: caNames,
    limits_addresses: caAddresses.every((hex) => certificate.raw.includes(Buffer.from(hex, "hex"))),
    limits_path: certificate.raw.includes(pathOfNone),
    replaced,
    valid_to: new Date(certificate.validTo).toISOString(),
    fingerprint: certificate.fingerprint256,
    spki: createHash("sha256").update(publicKey).digest("base64"),
  };
}

export const trustRecipes = (certFile: string, spki: string): readonly (readonly [who: string, how: string])[] => [
  ["Node", `NODE_EXTRA_CA_CERTS=${certFile}`],
  ["curl", `--cacert ${certFile}`],
  ["Python requests", `REQUESTS_CA_BUNDLE=${certFile}`],
  ["Chromium", `--ignore-certificate-errors-spki-list=${spki}`],
];

export const replacedText = (end: string, certFile: string): string =>
  `the certificate authority expired on ${end.slice(0, 10)}; a new one is in ${certFile}: clients must trust the new one (phx-sim ca trust)`;

export function distrustText(host: string, { certFile, spki }: { certFile: string; spki: string }): string {
  const recipes = trustRecipes(certFile, spki).map(([who, how]) => `${who}: ${how}`);
  const whose = host === "" ? "an unnamed host" : host;
  return `a client does not trust phx-sim's certificate for ${whose}; ${recipes.join("; ")}; see \`phx-sim ca trust\``;
}
