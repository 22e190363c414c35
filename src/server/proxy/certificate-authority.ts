import { createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** The authority that signs the proxy's certificates. One per user, never in a project. */
export interface Ca {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  /** Path of the certificate, for clients that are to trust it. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** The folder does not contain a valid authority. */
export class CaError extends Error {
  /** What to do about it. */
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

/** Where the user's authority is kept: `PHX_SIM_CA_DIR`, else `~/.phx-sim/ca`. */
export const defaultCaFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env.PHX_SIM_CA_DIR || join(homedir(), ".phx-sim", "ca");

const filesIn = (folder: string) => ({ certFile: join(folder, "ca.pem"), keyFile: join(folder, "ca.key") });

/**
 * The user's authority; made on first use.
 * @throws CaError if the folder contains something else, or cannot be written
 */
export async function openCa(folder = defaultCaFolder()): Promise<Ca> {
  const found = await readCa(folder);
  if (found !== undefined) return found;
  await makeCa(folder);
  const made = await readCa(folder);
  if (made === undefined)
    throw new CaError(`no authority could be kept in ${folder}`, "check that it is writable");
  return made;
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
  return { cert, key, ...files };
}

function checkPair(cert: string, key: string, folder: string, hint: string): void {
  try {
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key)))
      throw new Error("the key does not match the certificate");
    if (Date.parse(certificate.validTo) < Date.now()) throw new Error(`it expired on ${certificate.validTo}`);
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

const subject = {
  commonName: "phx-sim local CA: only for posthog.com and localhost",
  organizationName: "phx-sim",
};

/** Tags of a GeneralName (RFC 5280, 4.2.1.6). */
const [nameTag, addressTag] = [0x82, 0x87];

/**
 * mockttp constrains names only. So the certificate is made with a name of equal length for each address; then the
 * names are replaced by the addresses, and the certificate is signed again.
 */
async function generateCa(): Promise<{ cert: string; key: string }> {
  const { generateCACertificate } = await import("mockttp");
  const addresses = caAddresses.map((hex) => Buffer.from(hex, "hex"));
  const places = addresses.map(({ length }, i) => String(i).repeat(length));
  const { cert, key } = await generateCACertificate({
    subject,
    nameConstraints: { permitted: [...caNames, ...places] },
  });
  const der = Buffer.from(new X509Certificate(cert).raw);
  for (const [i, address] of addresses.entries()) {
    const at = der.indexOf(
      Buffer.concat([Buffer.from([nameTag, address.length]), Buffer.from(places[i] ?? "")]),
    );
    der[at] = addressTag;
    address.copy(der, at + 2);
  }
  // A certificate is a sequence of what is signed, the algorithm and the signature; the two headers have 4 bytes each.
  const signed = der.subarray(4, 8 + der.readUInt16BE(6));
  const signature = sign("sha256", signed, key);
  signature.copy(der, der.length - signature.length);
  const made = new X509Certificate(der);
  if (!made.verify(made.publicKey)) throw new Error("the certificate authority could not be signed");
  return { cert: made.toString(), key };
}

/** Both files appear at once, so that two processes that start together use one authority. */
async function makeCa(folder: string): Promise<void> {
  const { cert, key } = await generateCa();
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    // mkdtemp's folder is open to its owner only.
    const fresh = await mkdtemp(`${folder}.new-`);
    const files = filesIn(fresh);
    await writeFile(files.keyFile, key, { mode: 0o600 });
    await writeFile(files.certFile, cert, { mode: 0o644 });
    await rename(fresh, folder).catch(() => settle(fresh, folder));
  } catch (cause) {
    throw new CaError(`no certificate authority can be kept in ${folder}`, "set PHX_SIM_CA_DIR", cause);
  }
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

/** The public facts of an authority. */
export interface CaFacts {
  cert_file: string;
  key_file: string;
  subject: string;
  names: readonly string[];
  /** False for one of an older version: its certificates are valid for every address. */
  limits_addresses: boolean;
  valid_to: string;
  /** SHA-256 of the certificate, as browsers show it. */
  fingerprint: string;
  /** SHA-256 of its public key in base64, for Chromium's `--ignore-certificate-errors-spki-list`. */
  spki: string;
}

export function factsOf({ cert, certFile, keyFile }: Ca): CaFacts {
  const certificate = new X509Certificate(cert);
  const publicKey = certificate.publicKey.export({ type: "spki", format: "der" });
  return {
    cert_file: certFile,
    key_file: keyFile,
    subject: certificate.subject.replaceAll("\n", ", "),
    names: caNames,
    limits_addresses: caAddresses.every((hex) => certificate.raw.includes(Buffer.from(hex, "hex"))),
    valid_to: new Date(certificate.validTo).toISOString(),
    fingerprint: certificate.fingerprint256,
    spki: createHash("sha256").update(publicKey).digest("base64"),
  };
}

/** The setting that makes a client trust the authority, by kind of client. */
export const trustRecipes = (
  certFile: string,
  spki: string,
): readonly (readonly [who: string, how: string])[] => [
  ["Node", `NODE_EXTRA_CA_CERTS=${certFile}`],
  ["curl", `--cacert ${certFile}`],
  ["Python requests", `REQUESTS_CA_BUNDLE=${certFile}`],
  ["Chromium", `--ignore-certificate-errors-spki-list=${spki}`],
];

/** The notice on a client that rejected the certificate. */
export function distrustText(host: string, { certFile, spki }: { certFile: string; spki: string }): string {
  const recipes = trustRecipes(certFile, spki).map(([who, how]) => `${who}: ${how}`);
  const whose = host === "" ? "an unnamed host" : host;
  return `a client does not trust phx-sim's certificate for ${whose}; ${recipes.join("; ")}; see \`phx-sim ca trust\``;
}
