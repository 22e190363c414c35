import { z } from "zod";
import { type ProxyCode, proxyCodes } from "./codes.ts";
import { proxyFrameworks } from "./frameworks.ts";

const Code = z.enum(Object.keys(proxyCodes) as [ProxyCode, ...ProxyCode[]]);

export const ProxyCheck = z.strictObject({
  through: z.string().describe("Address of the proxy, such as http://localhost:3000/ingest"),
  origin: z
    .string()
    .refine((it) => URL.canParse(it) && new URL(it).origin === it, "an origin such as http://localhost:3000")
    .optional()
    .describe("Origin of the app's pages, if it is another one: then a missing permission (CORS) is a problem"),
  framework: z.enum(proxyFrameworks).optional().describe("What the proxy is made with, if its answers do not show it"),
  timeout_ms: z
    .int()
    .min(100)
    .max(60_000)
    .default(5_000)
    .describe("Longest time for each answer; six times as long for the first one, as development servers compile then"),
});
export type ProxyCheck = z.output<typeof ProxyCheck>;

const ProxyFinding = z
  .strictObject({
    code: Code.describe("docs/proxies.md lists them"),
    level: z.enum(["problem", "warning"]).describe("problem: events, flags or recordings are lost"),
    what: z.string(),
    requests: z.array(z.string()).describe("Names of the requests"),
    detail: z.string().describe("What was seen at the first of them"),
    cause: z.string().describe("The likely cause"),
    fix: z.string().describe("For the framework that was recognized"),
  })
  .meta({ title: "ProxyFinding" });
export type ProxyFinding = z.infer<typeof ProxyFinding>;

const ProxyRequestResult = z
  .strictObject({
    name: z.string(),
    request: z.string().describe("Method and target as sent"),
    status: z.int().nullable().describe("Status of the proxy's answer; null: none came"),
    arrived: z.boolean().describe("Whether it arrived at the sim"),
    codes: z.array(Code),
  })
  .meta({ title: "ProxyRequestResult" });

export const ProxyReport = z
  .strictObject({
    url: z.string(),
    sim: z.string().describe("The address that the proxy should send to"),
    passed: z.boolean().describe("True without a problem; warnings do not count"),
    frameworks: z.array(z.enum(proxyFrameworks)).describe("Recognized; the first one decides about fixes"),
    requests: z.array(ProxyRequestResult),
    not_sent: z.array(z.string()).describe("Requests that were left out, as the first ones did not arrive"),
    findings: z.array(ProxyFinding).describe("Problems first"),
  })
  .meta({ title: "ProxyReport" });
export type ProxyReport = z.infer<typeof ProxyReport>;
