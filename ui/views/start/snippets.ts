import { type Access, envGroups } from "../../../src/kernel/env-names.ts";

/** What a snippet is made for. */
export interface Target {
  /** Scheme, host and port by which the page reached the sim. */
  readonly host: string;
  readonly projectKey: string;
  readonly personalKey: string | null;
  readonly projectId: number;
}

/** A piece of code to be pasted. */
interface Snippet {
  /** The file it belongs in, or where it is run. */
  readonly where: string;
  readonly code: string;
}

/** A way to send events. */
export interface Way {
  readonly id: string;
  readonly title: string;
  readonly snippets: readonly Snippet[];
  /** What surprises people. */
  readonly notes: readonly string[];
}

type Writer = (target: Target) => Omit<Way, "id" | "title">;

/** A text in double quotes; what could end a script element is escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("<", "\\u003c");

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const bots =
  "Browsers that a test drives count as bots and send nothing unless you pass opt_out_useragent_filter: true.";
const batches = "Server SDKs send in batches: flush, or shut down, before you look.";

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
    "Or keep the snippet that you have: change the key and api_host in it, nothing else.",
    "array.js is served from the posthog-js that is installed beside your app.",
    bots,
  ],
});

const web: Writer = ({ host, projectKey }) => ({
  snippets: [
    { where: "Once", code: "npm install posthog-js" },
    {
      where: "Where your app starts",
      code: `import posthog from "posthog-js";

posthog.init(${quoted(projectKey)}, { api_host: ${quoted(host)} });
posthog.capture("hello");`,
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
      code: `import { PostHog } from "posthog-node";

const posthog = new PostHog(${quoted(projectKey)}, { host: ${quoted(host)} });
posthog.capture({ distinctId: "user-1", event: "hello" });
await posthog.shutdown();`,
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
  notes: ["Any language that can send a POST works like this."],
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

/** Every way to send events, with the host and keys of the one who reads it. */
export const waysFor = (target: Target): Way[] =>
  ways.map(([id, title, writer]) => ({ id, title, ...writer(target) }));
