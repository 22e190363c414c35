import { writeFile } from "node:fs/promises";
import type { CertificateAuthority } from "../index.ts";
import { caLines, trustLines } from "./ca-lines.ts";
import { clean } from "./clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { reasonOf } from "./system-reason.ts";

const group: CommandGroup = {
  name: "ca",
  describe: "The forward proxy's certificate authority: on this machine only, for posthog.com and localhost",
};

const json = { kind: "switch", describe: "Print it as JSON", flagOnly: true } as const;
const out = { kind: "file", describe: "File to write; default: stdout", flagOnly: true } as const;

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

async function writeCertificate(file: string, cert: string): Promise<void> {
  try {
    await writeFile(file, cert);
  } catch (error) {
    throw new Failure("failed", `${clean(file, 1000)} cannot be written: ${reasonOf(error)}`, error);
  }
}

/** The commands `phx-sim ca …`. */
export const caCommands: readonly Command[] = [
  command({
    name: "ca show",
    group,
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
    group,
    describe: "Print its certificate (PEM), never its key",
    options: {
      out,
      json: { ...json, describe: "Print the certificate, and the file if one was written, as JSON" },
    },
    examples: [["phx-sim ca export --out phx-sim-ca.pem", "for a container, or another user"]],
    async run({ values }, shell) {
      const { cert } = await authority(shell);
      const file = values.out;
      if (file !== undefined) await writeCertificate(file, cert.endsWith("\n") ? cert : `${cert}\n`);
      if (values.json) shell.out.say(JSON.stringify({ cert, file: file ?? null }));
      else if (file === undefined) shell.out.say(cert.trimEnd());
      return "ok";
    },
  }),
  command({
    name: "ca trust",
    group,
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
