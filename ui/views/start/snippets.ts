import { type Access, envGroups } from "../../../src/egress/env-names.ts";
import { shellQuoted } from "../../copy/quote.ts";
import { browserSnippet, nodeCapture, nodeSnippet, quoted } from "../../copy/snippets.ts";

export interface Target {
  readonly host: string;
  readonly projectKey: string;
  readonly personalKey: string | null;
  readonly projectId: number;
}

interface Snippet {
  /** The file it belongs in, or where to run it. */
  readonly where: string;
  readonly code: string;
}

export interface Way {
  readonly id: string;
  readonly title: string;
  readonly snippets: readonly Snippet[];
  /** Common pitfalls. */
  readonly notes: readonly string[];
}

type Writer = (target: Target) => Omit<Way, "id" | "title">;

const bots =
  "Automated browsers count as bots and send nothing unless you pass opt_out_useragent_filter: true.";
const batches = "Server SDKs send in batches: flush or shut down to see events.";

const html: Writer = ({ host, projectKey }) => ({
  snippets: [
    {
      where: "In the page's <head>",
      code: `<script>
  window.posthog = Object.assign([], {
    _i: [[${quoted(projectKey)}, { api_host: ${quoted(host)} }, "posthog"]],
    people: [],
    __SV: 1,
  });
  posthog.push(["capture", "hello"]);
</script>
<script src=${quoted(`${host}/static/array.js`)} crossorigin="anonymous" async></script>`,
    },
  ],
  notes: [
    "Or keep your existing snippet and change only the key and api_host.",
    "array.js is served from the posthog-js that is installed beside your app.",
    bots,
  ],
});

const web: Writer = ({ host, projectKey }) => ({
  snippets: [
    { where: "Once", code: "npm install posthog-js" },
    {
      where: "Where your app starts",
      code: browserSnippet(projectKey, host, 'capture("hello")'),
    },
  ],
  notes: [bots],
});

const react: Writer = ({ host, projectKey }) => ({
  snippets: [
    { where: "Once", code: "npm install posthog-js @posthog/react" },
    {
      where: "main.tsx",
      code: `import { PostHogProvider } from "@posthog/react";

<PostHogProvider apiKey=${quoted(projectKey)} options={{ api_host: ${quoted(host)} }}>
  <App />
</PostHogProvider>`,
    },
  ],
  notes: [bots],
});

const next: Writer = ({ host, projectKey }) => ({
  snippets: [
    {
      where: ".env.local",
      code: `NEXT_PUBLIC_POSTHOG_KEY=${projectKey}\nNEXT_PUBLIC_POSTHOG_HOST=${host}`,
    },
    {
      where: "instrumentation-client.ts",
      code: `import posthog from "posthog-js";

posthog.init(process.env.NEXT_PUBLIC_POSTHOG_KEY, {
  api_host: process.env.NEXT_PUBLIC_POSTHOG_HOST,
});`,
    },
  ],
  notes: ["Next reads .env.local when it starts: restart it after a change.", bots],
});

const node: Writer = ({ host, projectKey }) => ({
  snippets: [
    { where: "Once", code: "npm install posthog-node" },
    {
      where: "hello.mjs",
      code: nodeSnippet(projectKey, host, nodeCapture),
    },
  ],
  notes: [batches],
});

const python: Writer = ({ host, projectKey }) => ({
  snippets: [
    { where: "Once", code: "pip install posthog" },
    {
      where: "hello.py",
      code: `from posthog import Posthog

posthog = Posthog(${quoted(projectKey)}, host=${quoted(host)})
posthog.capture("hello", distinct_id="user-1")
posthog.shutdown()`,
    },
  ],
  notes: [batches],
});

const curl: Writer = ({ host, projectKey }) => ({
  snippets: [
    {
      where: "In a terminal",
      code: `curl ${shellQuoted(`${host}/i/v0/e/`)} \\
  -H 'content-type: application/json' \\
  --data-raw ${shellQuoted(JSON.stringify({ api_key: projectKey, event: "hello", distinct_id: "user-1" }))}`,
    },
  ],
  notes: ["Any HTTP client works like this."],
});

function env({ host, projectKey, personalKey, projectId }: Target): Omit<Way, "id" | "title"> {
  const access: Access = {
    url: host,
    project_api_key: projectKey,
    personal_api_key: personalKey ?? "",
    project_id: projectId,
  };
  return {
    snippets: envGroups(access, undefined).map(({ comments, variables }) => ({
      where: comments[0] ?? "",
      code: variables
        .filter(([, value]) => value !== "")
        .map(([name, value]) => `${name}=${value}`)
        .join("\n"),
    })),
    notes: ["The same in the terminal: phx-sim env --framework next|vite|nuxt|expo|node"],
  };
}

const ways: readonly (readonly [id: string, title: string, writer: Writer])[] = [
  ["js", "posthog-js", web],
  ["html", "HTML snippet", html],
  ["react", "React", react],
  ["next", "Next.js", next],
  ["node", "Node", node],
  ["python", "Python", python],
  ["curl", "curl", curl],
  ["env", ".env", env],
];

/** Every way to send events, with the given host and keys. */
export const waysFor = (target: Target): Way[] =>
  ways.map(([id, title, writer]) => ({ id, title, ...writer(target) }));
