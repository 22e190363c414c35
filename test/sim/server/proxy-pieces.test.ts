import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readHostRule } from "../../../src/kernel/http/host-rules.ts";
import {
  type Ca,
  CaError,
  defaultCaFolder,
  distrustText,
  factsOf,
  openCa,
} from "../../../src/sim/server/proxy/certificate-authority.ts";
import { readAbsolute, readAuthority, type Speech, speechOf } from "../../../src/sim/server/proxy/first-bytes.ts";
import { findTarget, TargetError } from "../../../src/sim/server/proxy/targets.ts";
import { newFolder } from "../../support/folder.ts";

describe("first bytes", () => {
  const rows: [name: string, bytes: Buffer, speech: Speech | undefined][] = [
    ["a TLS handshake", Buffer.from([0x16, 3, 1, 0, 5]), "tls"],
    ["its first byte", Buffer.from([0x16]), "tls"],
    ["HTTP/2", Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "h2c"],
    ["POST", Buffer.from("POST / HTTP/1.1"), "http"],
    ["PUT, byte by byte", Buffer.from("PU"), "http"],
    ["PROPFIND", Buffer.from("PROPFIND"), "http"],
    ["P", Buffer.from("P"), undefined],
    ["PR", Buffer.from("PR"), undefined],
    ["GET", Buffer.from("GET / HTTP/1.1"), "http"],
    ["a call to the feed", Buffer.from("GET /__sim/ws HTTP/1.1"), "socket"],
    ["the beginning of one", Buffer.from("GET /__s"), undefined],
    ["G", Buffer.from("G"), undefined],
    ["another call of the control API", Buffer.from("GET /__sim/i"), "http"],
    ["SOCKS 5", Buffer.from([5, 1, 0]), "http"],
    ["noise", Buffer.from([0, 0xff]), "http"],
  ];
  test.each(rows)("%s", (_, bytes, speech) => {
    expect(speechOf(bytes)).toBe(speech);
  });

  const socket = "GET /live HTTP/1.1\r\nHost: a\r\nUPGRADE:websocket\r\n\r\n";
  test.each<[name: string, text: string, speech: Speech | undefined]>([
    ["a handshake", socket, "socket"],
    ["with what comes behind it", `${socket}frame`, "socket"],
    ["half of one", socket.slice(0, 40), undefined],
    ["its first bytes", "GE", undefined],
    ["an offer of another protocol", socket.replace("websocket", "h2c"), "http"],
    ["the word elsewhere", socket.replace("UPGRADE", "X-Upgrade"), "http"],
    ["the word in a body", `GET /a HTTP/1.1\r\n\r\n\r\nupgrade: websocket\r\n\r\n`, "http"],
    ["a POST", socket.replace("GET", "POST"), "http"],
    ["a head without an end", `GET /${"x".repeat(20_000)}`, "http"],
    ["the feed", "GET /__sim/ws HTTP/1.1", "socket"],
  ])("where websockets are taken: %s", (_, text, speech) => {
    expect(speechOf(Buffer.from(text), true)).toBe(speech);
  });
});

describe("request targets", () => {
  test.each([
    ["us.i.posthog.com:443", { host: "us.i.posthog.com", port: 443 }],
    ["US.I.PostHog.com.:8443", { host: "us.i.posthog.com", port: 8443 }],
    ["[::1]:80", { host: "::1", port: 80 }],
    ["a.example", { host: "a.example", port: 443 }],
    ["a.example:0", undefined],
    ["a.example:65536", undefined],
    ["a.example:x", undefined],
    ["", undefined],
    [":443", undefined],
    ["u@a.example:443", undefined],
    ["a.example/b:443", undefined],
    ["a\\b:443", undefined],
    ["a b:443", undefined],
  ])("authority %j", (text, expected) => {
    expect(readAuthority(text, 443)).toEqual(expected);
  });

  test.each([
    ["http://A.example/b//c?d=%2f", { host: "A.example", target: "/b//c?d=%2f", port: 80 }],
    ["HTTP://a.example", { host: "a.example", target: "/", port: 80 }],
    ["http://a.example?b", { host: "a.example", target: "/?b", port: 80 }],
    ["ws://a.example:81/b", { host: "a.example:81", target: "/b", port: 81 }],
    ["https://a.example/", undefined],
    ["/b", undefined],
    ["*", undefined],
    ["http://", undefined],
    ["http:///b", undefined],
    ["http://u:p@a.example/", undefined],
    ["ftp://a.example/", undefined],
  ])("absolute form %j", (text, expected) => {
    const read = readAbsolute(text);
    expect(read && { host: read.host, target: read.target, port: read.authority.port }).toEqual(expected);
  });
});

describe("targets that are not reached", () => {
  const names: Record<string, string[]> = {
    "public.example": ["93.184.215.14"],
    "myself.example": ["203.0.113.7"],
    "rebound.example": ["93.184.215.14", "127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "intranet.example": ["10.1.2.3"],
  };
  const own = () => ["127.0.0.1", "203.0.113.7", "2001:db8::7"];
  const resolve = async (host: string) => {
    const found = names[host];
    if (found === undefined) throw Object.assign(new Error("unknown"), { code: "ENOTFOUND" });
    return found;
  };
  const find = (host: string, port = 80, allow: string[] = []) =>
    findTarget(host, port, { allow: allow.map(readHostRule), ownPort: 7490, resolve, own });

  test.each([
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "169.254.169.254",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "168.63.129.16",
    "100.100.100.200",
    "10.0.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "[fc00::1]",
    "224.0.0.1",
    "255.255.255.255",
    "203.0.113.7",
    "[::ffff:203.0.113.7]",
    "[2001:db8:0:0::7]",
    "myself.example",
    "rebound.example",
    "metadata.google.internal",
    "intranet.example",
  ])("%s", async (host) => {
    await expect(find(host)).rejects.toMatchObject({ name: "TargetError", status: 403 });
  });

  test.each(["localhost", "0x7f.1", "2130706433"])("%s, as the system reads it", async (host) => {
    const found = findTarget(host, 80, { allow: [], ownPort: 7490 });
    await expect(found).rejects.toBeInstanceOf(TargetError);
  });

  test("others are, at the address that was checked", async () => {
    expect(await find("public.example", 443)).toEqual({ address: "93.184.215.14", port: 443 });
    expect(await find("203.0.113.8", 443)).toEqual({ address: "203.0.113.8", port: 443 });
    expect(await find("[2606:4700::1111]", 443)).toEqual({ address: "2606:4700::1111", port: 443 });
  });

  test.each([
    ["localhost:3000", "127.0.0.1", 3000, false],
    ["127.0.0.1:3000", "127.0.0.1", 3000, true],
    ["127.0.0.1:3000", "127.0.0.1", 3001, false],
    ["intranet.example", "intranet.example", 80, true],
    ["10.1.2.3", "intranet.example", 80, true],
    ["*", "127.0.0.1", 3000, true],
    ["*", "127.0.0.1", 7490, false],
    ["203.0.113.7:3000", "203.0.113.7", 3000, true],
    ["203.0.113.7:3000", "203.0.113.7", 3001, false],
    ["*", "203.0.113.7", 7490, false],
    ["127.0.0.1:7490", "127.0.0.1", 7490, false],
  ])("with --proxy-allow %s, %s:%i: %j", async (rule, host, port, reached) => {
    const found = await find(host, port, [rule]).then(
      () => true,
      () => false,
    );
    expect(found).toBe(reached);
  });

  test("what is refused says how it is allowed", async () => {
    await expect(find("10.0.0.1", 8080)).rejects.toThrow("--proxy-allow 10.0.0.1:8080");
    await expect(find("nowhere.example")).rejects.toMatchObject({ status: 502 });
  });
});

describe("the certificate authority", () => {
  const home = newFolder();
  const mode = (path: string) => statSync(path).mode & 0o777;

  let first: Ca;
  test("is made once, however many ask at the same time, and closed to others", async () => {
    const folder = join(home, "deep", "ca");
    const made = await Promise.all([openCa(folder), openCa(folder), openCa(folder)]);
    [first] = made as [Ca, Ca, Ca];
    expect(new Set(made.map((it) => it.cert)).size).toBe(1);
    expect(await openCa(folder)).toEqual(first);
    expect(readdirSync(join(home, "deep"))).toEqual(["ca"]);
    expect(readdirSync(folder).sort()).toEqual(["ca.key", "ca.pem"]);
    if (process.platform !== "win32") {
      expect([mode(folder), mode(first.keyFile)]).toEqual([0o700, 0o600]);
    }
  });

  test("has a subject of its own, and says what it is", () => {
    const facts = factsOf(first);
    expect(facts.subject).toContain("O=phx-sim");
    expect(facts.subject).not.toMatch(/mockttp/i);
    expect(facts.spki).toMatch(/^[\w+/]{43}=$/);
    expect(new X509Certificate(first.cert).ca).toBe(true);
  });

  // Node makes no certificates: the ones that a thief of the key would make are openssl's.
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  test.runIf(hasOpenssl).each([
    ["DNS:us.i.posthog.com", true],
    ["DNS:localhost", true],
    ["IP:127.0.0.1", true],
    ["IP:127.9.9.9", true],
    ["IP:::1", true],
    ["DNS:bank.example", false],
    ["DNS:posthog.com.evil.example", false],
    ["IP:10.1.2.3", false],
    ["IP:93.184.215.14", false],
    ["IP:128.0.0.1", false],
    ["IP:::2", false],
    ["IP:2606:4700::1111", false],
  ])("is good for %s: %j", async (name, isGood) => {
    const folder = mkdtempSync(join(home, "leaf-"));
    const openssl = (...args: string[]) => spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", "leaf.key"];
    openssl("req", ...key, "-subj", "/O=x", "-addext", `subjectAltName=${name}`, "-out", "leaf.csr");
    const signing = ["-CA", first.certFile, "-CAkey", first.keyFile, "-copy_extensions", "copy"];
    openssl("x509", "-req", "-in", "leaf.csr", ...signing, "-out", "leaf.pem");
    const { status, stdout, stderr } = openssl("verify", "-CAfile", first.certFile, "leaf.pem");
    if (isGood) expect(stdout).toBe("leaf.pem: OK\n");
    else expect(stderr).toContain("permitted subtree violation");
    expect(status === 0).toBe(isGood);
  });

  test.runIf(process.platform !== "win32")("closes a key that others could read", async () => {
    chmodSync(first.keyFile, 0o644);
    await openCa(join(home, "deep", "ca"));
    expect(mode(first.keyFile)).toBe(0o600);
  });

  test("goes into a folder that already exists", async () => {
    const folder = join(home, "there");
    mkdirSync(folder);
    writeFileSync(join(folder, "note.txt"), "mine");
    const { certFile } = await openCa(folder);
    expect(certFile).toBe(join(folder, "ca.pem"));
    expect(readdirSync(folder).sort()).toEqual(["ca.key", "ca.pem", "note.txt"]);
  });

  test.each([
    ["only a certificate", () => ({ "ca.pem": first.cert }), "has only one"],
    ["only a key", () => ({ "ca.key": first.key }), "has only one"],
    ["noise", () => ({ "ca.pem": "x", "ca.key": "y" }), "cannot be used"],
    [
      "another's key",
      async () => ({ "ca.pem": first.cert, "ca.key": (await openCa(join(home, "other"))).key }),
      "the key does not match",
    ],
  ])("a folder with %s is left as it is", async (name, content, why) => {
    const folder = join(home, name);
    mkdirSync(folder);
    const files = Object.entries(await content());
    for (const [file, text] of files) writeFileSync(join(folder, file), text);
    const failed = await openCa(folder).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CaError);
    expect(String(failed)).toContain(why);
    expect(readdirSync(folder)).toHaveLength(files.length);
  });

  test("is where PHX_SIM_CA_DIR says", () => {
    expect(defaultCaFolder({ PHX_SIM_CA_DIR: "/x" })).toBe("/x");
    expect(defaultCaFolder({})).toMatch(/[\\/]\.phx-sim[\\/]ca$/);
  });

  test("a client that does not trust it: one line, with the host and the ways", () => {
    const text = distrustText("us.i.posthog.com", { certFile: "/ca.pem", spki: "abc=" });
    expect(text).not.toContain("\n");
    for (const it of [
      "us.i.posthog.com",
      "NODE_EXTRA_CA_CERTS=/ca.pem",
      "--cacert /ca.pem",
      "REQUESTS_CA_BUNDLE=/ca.pem",
      "--ignore-certificate-errors-spki-list=abc=",
    ]) {
      expect(text).toContain(it);
    }
  });
});
