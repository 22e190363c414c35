import { dirname } from "node:path";
import type { CertificateAuthority } from "../index.ts";
import { writeWhole } from "../kernel/base/whole-file.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import { written } from "../kernel/command/result-file.ts";

const json = { kind: "switch", describe: "Print it as JSON" } as const;
const out = { kind: "file", describe: "File to write; default: stdout" } as const;

/** Makes it when there is none. @throws Failure start */
async function authority(shell: Shell): Promise<CertificateAuthority> {
  const { CertificateError, certificateAuthority } = await import("../index.ts");
  try {
    return await certificateAuthority(shell.env.PHX_SIM_CA_DIR || undefined);
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new Failure("start", clean(`${error.message}; ${error.hint}`, 2000), error);
  }
}

export const caCommands: readonly Command[] = [
  command({
    name: "ca show",
    describe: "Show where it is, what it is valid for, and how clients are set up to trust it",
    options: { json },
    examples: [["phx-sim ca show", "makes one, too, if there is none yet"]],
    async run({ values }, shell) {
      const ca = await authority(shell);
      shell.out.say(...(values.json ? [JSON.stringify({ ...ca, cert: undefined })] : caLines(ca)));
      return "ok";
    },
  }),
  command({
    name: "ca export",
    describe: "Print its certificate (PEM), never its key",
    options: { out, json: { ...json, describe: "Print the certificate, and the file if one was written, as JSON" } },
    examples: [["phx-sim ca export --out phx-sim-ca.pem", "for a container, or another user"]],
    async run({ values }, shell) {
      const { cert } = await authority(shell);
      const file = values.out;
      const text = cert.endsWith("\n") ? cert : `${cert}\n`;
      if (file !== undefined) await written(clean(file, 1000), () => writeWhole(file, [text], 0o666));
      if (values.json) shell.out.say(JSON.stringify({ cert, file: file ?? null }));
      else if (file === undefined) shell.out.say(cert.trimEnd());
      return "ok";
    },
  }),
  command({
    name: "ca trust",
    describe: "Print the commands that make this system trust it; nothing is installed",
    options: { json: { ...json, describe: "Print the lines as JSON" } },
    examples: [["phx-sim ca trust", "read first, then run what you want"]],
    async run({ values }, shell) {
      const lines = trustLines(await authority(shell), process.platform);
      shell.out.say(...(values.json ? [JSON.stringify({ platform: process.platform, lines })] : lines));
      return "ok";
    },
  }),
];

const indented = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.map(([who, how]) => `  ${who.padEnd(17)}${clean(how, 1000)}`);

const addresses = ({ limits_addresses, limits_path, cert_file }: CertificateAuthority): string => {
  if (limits_addresses && limits_path) return "loopback addresses; nothing else";
  const what = limits_addresses
    ? "loopback addresses; it could sign another authority, and lives for ten years"
    : "and every IP address";
  return `${what}: an older version made it. To renew it, delete ${clean(dirname(cert_file), 1000)}, run phx-sim ca show and have clients trust the new one`;
};

/** What `ca show` prints. */
const caLines = (ca: CertificateAuthority): string[] => [
  `Certificate  ${clean(ca.cert_file, 1000)}`,
  `Key          ${clean(ca.key_file, 1000)} (yours alone)`,
  `Subject      ${clean(ca.subject)}`,
  `Good for     ${ca.names.map((name) => `${name}, *.${name}`).join(", ")}, ${addresses(ca)}`,
  `Until        ${ca.valid_to}`,
  `SHA-256      ${ca.fingerprint}`,
  ...(ca.replaced === null
    ? []
    : [`Replaces     one that expired on ${ca.replaced.slice(0, 10)}: have clients trust this one`]),
  "Clients that are to trust it:",
  ...indented(ca.recipes),
];

const quoted = (path: string): string => `'${clean(path, 1000).replaceAll("'", "'\\''")}'`;

type Commands = (file: string, subject: string) => readonly string[];

/** By system: how all its programs come to trust a certificate, and how they stop. */
const systems: Readonly<Record<string, { trust: Commands; untrust: Commands }>> = {
  darwin: {
    trust: (file) => [
      `security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ${quoted(file)}`,
    ],
    untrust: (file) => [`security remove-trusted-cert ${quoted(file)}`],
  },
  win32: {
    trust: (file) => [`certutil -user -addstore Root "${clean(file, 1000)}"`],
    untrust: (_, subject) => [`certutil -user -delstore Root "${subject}"`],
  },
  linux: {
    trust: (file) => [
      "# Debian, Ubuntu",
      `sudo cp ${quoted(file)} /usr/local/share/ca-certificates/phx-sim.crt && sudo update-ca-certificates`,
      "# Fedora, RHEL",
      `sudo cp ${quoted(file)} /etc/pki/ca-trust/source/anchors/phx-sim.pem && sudo update-ca-trust`,
      "# Chromium and Chrome, which keep their own list",
      `certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n phx-sim -i ${quoted(file)}`,
    ],
    untrust: () => [
      "sudo rm /usr/local/share/ca-certificates/phx-sim.crt && sudo update-ca-certificates --fresh",
      "sudo rm /etc/pki/ca-trust/source/anchors/phx-sim.pem && sudo update-ca-trust",
      "certutil -d sql:$HOME/.pki/nssdb -D -n phx-sim",
    ],
  },
};

/** The commands that the user may run; nothing is run here. */
export function trustLines({ cert_file, subject, recipes }: CertificateAuthority, platform: string): string[] {
  const system = systems[platform];
  const name = /CN=([^,]+)/.exec(subject)?.[1] ?? "phx-sim";
  const whole = system
    ? [
        "# Nothing has been changed. To have all programs of this user or machine trust it:",
        ...system.trust(cert_file, name),
        "# and to undo that:",
        ...system.untrust(cert_file, name),
      ]
    : ["# Nothing has been changed."];
  return [...whole, "# One program is enough most of the time:", ...indented(recipes)];
}
