import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import { generateCACertificate } from "mockttp";
import { describe, expect, test } from "vitest";
import { trustLines } from "../../src/cli/ca.ts";
import { newFolder, runHere } from "../support/phx-sim.ts";

const cwd = newFolder();
const folder = join(cwd, "ca");
const ca = (args: string[], env: Record<string, string> = { PHX_SIM_CA_DIR: folder }) =>
  runHere(["ca", ...args], { cwd, env });

describe("phx-sim ca", () => {
  test("show makes one on first need, and finds it again", async () => {
    const first = await ca(["show", "--json"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const facts = JSON.parse(first.stdout);
    expect(facts).toMatchObject({ cert_file: join(folder, "ca.pem"), names: ["posthog.com", "localhost"] });
    expect(facts).not.toHaveProperty("cert");
    if (process.platform !== "win32") expect(statSync(facts.key_file).mode & 0o777).toBe(0o600);
    expect((await ca(["show", "--json"])).stdout).toBe(first.stdout);
    expect((await ca(["show"])).stdout).toContain(`NODE_EXTRA_CA_CERTS=${facts.cert_file}`);
  });

  test("export prints the certificate, or writes it; never the key", async () => {
    const { stdout } = await ca(["export"]);
    expect(new X509Certificate(stdout).ca).toBe(true);
    expect(stdout).not.toContain("PRIVATE");
    const file = join(cwd, "out.pem");
    expect(await ca(["export", "--out", file])).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(file, "utf8")).toBe(stdout);
  });

  test("trust prints commands, and installs nothing", async () => {
    const { code, stdout } = await ca(["trust"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Nothing has been changed");
    expect(stdout).toContain(folder);
  });

  test("a file that cannot be written", async () => {
    const ended = await ca(["export", "--out", join(cwd, "no", "such", "folder.pem")]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("cannot be written: there is no such file or folder");
  });

  test("show names the addresses of one without limits, and how to renew it", async () => {
    const older = join(cwd, "older");
    const env = { PHX_SIM_CA_DIR: older };
    const made = await generateCACertificate({ nameConstraints: { permitted: ["posthog.com", "localhost"] } });
    mkdirSync(older);
    writeFileSync(join(older, "ca.pem"), made.cert);
    writeFileSync(join(older, "ca.key"), made.key);
    expect((await ca(["show"])).stdout).toContain("loopback addresses; nothing else");
    const { stdout } = await ca(["show"], env);
    expect(stdout).toContain(`and every IP address: an older version made it. To renew it, delete ${older}`);
    expect(JSON.parse((await ca(["show", "--json"], env)).stdout)).toMatchObject({ limits_addresses: false });
  });

  test("it lives for 825 days at most, and may sign no other authority", async () => {
    const certificate = new X509Certificate((await ca(["export"])).stdout);
    const days = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 86_400_000;
    expect(days).toBeGreaterThan(800);
    expect(days).toBeLessThanOrEqual(825);
    // BasicConstraints: an authority, with a path length of 0 (RFC 5280, 4.2.1.9)
    expect(certificate.raw.includes(Buffer.from("0603551d130101ff040830060101ff020100", "hex"))).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  test("an expired one is replaced, and the output names it", async () => {
    const expired = join(cwd, "expired");
    const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }, true, [
      "sign",
      "verify",
    ]);
    const old = await X509CertificateGenerator.createSelfSigned({
      name: "CN=old",
      notBefore: new Date("2024-01-01"),
      notAfter: new Date("2025-01-01"),
      signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
      keys,
    });
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
    mkdirSync(expired);
    writeFileSync(join(expired, "ca.pem"), old.toString("pem"));
    writeFileSync(
      join(expired, "ca.key"),
      createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }).export({ type: "pkcs8", format: "pem" }),
    );
    const env = { PHX_SIM_CA_DIR: expired };
    const { code, stdout } = await ca(["show"], env);
    expect(code).toBe(0);
    expect(stdout).toContain("Replaces     one that expired on 2025-01-01: have clients trust this one");
    expect(readFileSync(join(expired, "ca.pem"), "utf8")).not.toBe(old.toString("pem"));
    const again = await ca(["show", "--json"], env);
    expect(JSON.parse(again.stdout)).toMatchObject({ limits_addresses: true, limits_path: true, replaced: null });
  });

  test("a damaged folder: what is wrong, and the way out", async () => {
    const damaged = join(cwd, "damaged");
    mkdirSync(damaged);
    writeFileSync(join(damaged, "ca.pem"), "x");
    const ended = await ca(["show"], { PHX_SIM_CA_DIR: damaged });
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain("has only one of ca.pem and ca.key; move");
    expect(existsSync(join(damaged, "ca.key"))).toBe(false);
  });
});

test.each([
  ["darwin", "security add-trusted-cert"],
  ["win32", "certutil -user -addstore Root"],
  ["linux", "update-ca-certificates"],
  ["plan9", "NODE_EXTRA_CA_CERTS"],
])("commands for %s", (platform, expected) => {
  const facts = {
    cert: "",
    cert_file: "/it's here/ca.pem",
    key_file: "",
    subject: "O=phx-sim, CN=phx-sim local CA",
    names: [],
    limits_addresses: true,
    limits_path: true,
    replaced: null,
    valid_to: "",
    fingerprint: "",
    spki: "",
    recipes: [["Node", "NODE_EXTRA_CA_CERTS=/it's here/ca.pem"]] as const,
  };
  const text = trustLines(facts, platform).join("\n");
  expect(text).toContain(expected);
  if (platform === "linux") expect(text).toContain(`'/it'\\''s here/ca.pem'`);
});
