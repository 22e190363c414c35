import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { LaunchOptions } from "@playwright/test";
import { der, sequence } from "../../kernel/codec/der.ts";
import { serviceHosts } from "../../kernel/http/host-rules.ts";
import type { Forwarded } from "../../lab/egress/browser-traffic.ts";

/** A request that no route has answered; the browser may have sent it while its page was left. */
interface UnroutedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The answer; undefined: the connection is closed without one. */
export type AnswerUnrouted = (request: UnroutedRequest) => Promise<Forwarded | undefined>;

/** A server on this machine to which the browser resolves the service's hosts. */
export interface StandIn {
  /** Answers requests. While it is undefined, connections are closed without a response. */
  answer: AnswerUnrouted | undefined;
  /** Launch options with which Chromium resolves the service's hosts to it; its rules come before those of the test. */
  launchOptions(options: LaunchOptions, simUrl: string): LaunchOptions;
  close(): void;
}

const utcTime = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));

const ecdsaWithSha256 = sequence(der(6, Buffer.from("2a8648ce3d040302", "hex")));
/** CN=phx-sim. */
const name = sequence(der(0x31, sequence(der(6, Buffer.from("550403", "hex")), der(0x0c, Buffer.from("phx-sim")))));
const day = 24 * 3600 * 1000;

/** A certificate of this process only, which signs itself, and the hash by which the browser accepts its key. */
function makeCertificate(): { key: string; cert: string; pin: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const now = Date.now();
  const content = sequence(
    der(2, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(now - day), utcTime(now + 30 * day)),
    name,
    spki,
  );
  const signature = sign("sha256", content, privateKey);
  const all = sequence(content, ecdsaWithSha256, der(3, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${all.toString("base64")}\n-----END CERTIFICATE-----\n`,
    pin: createHash("sha256").update(spki).digest("base64"),
  };
}

const resolverRules = "--host-resolver-rules=";
const spaces = "--ip-address-space-overrides=";
const pins = "--ignore-certificate-errors-spki-list=";

function withValue(args: readonly string[], option: string, value: string): string[] {
  const given = args.filter((it) => it.startsWith(option)).map((it) => it.slice(option.length));
  return [...args.filter((it) => !it.startsWith(option)), option + [value, ...given].join(",")];
}

export async function startStandIn(): Promise<StandIn> {
  const { key, cert, pin } = makeCertificate();
  const standIn: { answer: AnswerUnrouted | undefined } = { answer: undefined };
  const handle = (scheme: string) => (request: IncomingMessage, response: ServerResponse) =>
    void take(scheme, request, response).catch(() => response.destroy());
  const take = async (scheme: string, request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/", headers } = request;
    const body = Buffer.concat(await request.toArray());
    const answer = await standIn.answer?.({
      url: new URL(url, `${scheme}://${headers.host}`),
      method,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body,
    });
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    else response.destroy();
  };
  const plain = createHttp(handle("http"));
  const secure = createHttps({ key, cert }, handle("https"));
  const open = new Set<Socket>();
  const tlsHandshake = 22;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => {});
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      // TLS reads the socket itself
      if (first[0] === tlsHandshake) secure.emit("connection", socket);
      else plain.emit("connection", socket.resume());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  const place = `127.0.0.1:${port}`;
  return Object.assign(standIn, {
    launchOptions(options: LaunchOptions, simUrl: string): LaunchOptions {
      // Chromium matches a name with a final dot only by a rule of its own
      const rules = serviceHosts.map((it) => `MAP ${it} ${place},MAP ${it}. ${place}`).join(",");
      // Pages of public addresses may send to both without a permission of the user.
      const addresses = [place, new URL(simUrl).host].map((it) => `${it}=public`).join(",");
      const args = withValue(options.args ?? [], resolverRules, rules);
      return { ...options, args: withValue(withValue(args, spaces, addresses), pins, pin) };
    },
    close(): void {
      server.close();
      for (const it of open) it.destroy();
    },
  });
}

export const usesStandIn = ({ args = [] }: LaunchOptions): boolean =>
  args.some((it) => it.startsWith(`${resolverRules}MAP ${serviceHosts[0]} 127.0.0.1:`));
