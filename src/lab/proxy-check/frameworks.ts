import type { ProxyAnswer } from "./exchange.ts";

/** What a proxy is made with, as far as fixes differ. */
export const proxyFrameworks = [
  "next",
  "vite",
  "nuxt",
  "sveltekit",
  "nginx",
  "caddy",
  "express",
  "vercel",
  "cloudflare",
] as const;
export type ProxyFramework = (typeof proxyFrameworks)[number];

interface Trace {
  readonly framework: ProxyFramework;
  readonly title: string;
  /** A header of an answer, and what it says. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** In a page of the app. */
  readonly page?: RegExp;
}

/** The first that fits: what is further behind leaves fewer traces. */
const traces: readonly Trace[] = [
  {
    framework: "next",
    title: "Next.js",
    headers: { "x-powered-by": /next\.js/i, "x-nextjs-cache": /./, vary: /next-router-state-tree/i },
    page: /\/_next\/static\//,
  },
  {
    framework: "nuxt",
    title: "Nuxt (Nitro)",
    headers: { "x-powered-by": /nuxt|nitro/i },
    page: /\/_nuxt\/|id="__nuxt"/,
  },
  {
    framework: "sveltekit",
    title: "SvelteKit",
    headers: { "x-sveltekit-page": /./ },
    page: /__sveltekit_|\/_app\/immutable\//,
  },
  { framework: "vite", title: "Vite", page: /\/@vite\/client/ },
  { framework: "caddy", title: "Caddy", headers: { server: /caddy/i, via: /caddy/i } },
  { framework: "nginx", title: "nginx", headers: { server: /nginx|openresty/i } },
  { framework: "express", title: "Express", headers: { "x-powered-by": /express/i } },
  { framework: "vercel", title: "Vercel rewrites", headers: { "x-vercel-id": /./ } },
  { framework: "cloudflare", title: "Cloudflare Worker", headers: { "cf-ray": /./ } },
];

export const frameworkTitles: Readonly<Record<ProxyFramework, string>> = Object.fromEntries(
  traces.map(({ framework, title }) => [framework, title]),
) as Record<ProxyFramework, string>;

/** The frameworks that left traces in these answers; the one whose fix counts comes first. */
export function frameworksIn(answers: readonly ProxyAnswer[]): ProxyFramework[] {
  const pages = answers.map(({ headers, body }) =>
    /html/.test(headers["content-type"] ?? "") ? body.subarray(0, 200_000).toString("latin1") : "",
  );
  const fits = ({ headers = {}, page }: Trace) =>
    answers.some((it) => Object.entries(headers).some(([name, said]) => said.test(it.headers[name] ?? ""))) ||
    (page !== undefined && pages.some((it) => page.test(it)));
  return traces.filter(fits).map(({ framework }) => framework);
}
