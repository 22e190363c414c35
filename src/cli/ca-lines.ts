import { dirname } from "node:path";
import type { CertificateAuthority } from "../index.ts";
import { clean } from "./clean-text.ts";

const indented = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.map(([who, how]) => `  ${who.padEnd(17)}${clean(how, 1000)}`);

const addresses = ({ limits_addresses, cert_file }: CertificateAuthority): string =>
  limits_addresses
    ? "loopback addresses; nothing else"
    : `and every IP address: an older version made it. To renew it, delete ${clean(dirname(cert_file), 1000)}, run phx-sim ca show and have clients trust the new one`;

/** What `ca show` prints. */
export const caLines = (ca: CertificateAuthority): string[] => [
  `Certificate  ${clean(ca.cert_file, 1000)}`,
  `Key          ${clean(ca.key_file, 1000)} (yours alone)`,
  `Subject      ${clean(ca.subject)}`,
  `Good for     ${ca.names.map((name) => `${name}, *.${name}`).join(", ")}, ${addresses(ca)}`,
  `Until        ${ca.valid_to}`,
  `SHA-256      ${ca.fingerprint}`,
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
export function trustLines(
  { cert_file, subject, recipes }: CertificateAuthority,
  platform: string,
): string[] {
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
