import { shellQuoted } from "../../../src/kernel/base/text.ts";
import { type Access, envGroups } from "../../../src/lab/egress/env-names.ts";
import { browserSnippet, nodeCapture, nodeSnippet, quoted } from "../../copy/snippets.ts";

export interface Target {
  readonly host: string;
  readonly projectKey: string;
  readonly personalKey: string | null;
  readonly projectId: number;
}

interface Way {
  readonly id: string;
  readonly title: string;
  /** `where`: the file it belongs in, or where to run it. */
  readonly snippets: readonly { readonly where: string; readonly code: string }[];
  readonly notes: readonly string[];
}

const bots = "Automated browsers count as bots and send nothing unless you pass opt_out_useragent_filter: true.";
const batches = "Server SDKs send in batches: flush or shut down to see events.";

const html = ({ host, projectKey }: Target): string => `<script>
  window.posthog = Object.assign([], {
    _i: [[${quoted(projectKey)}, { api_host: ${quoted(host)} }, "posthog"]],
    people: [],
    __SV: 1,
  });
  posthog.push(["capture", "hello"]);
</script>
<script src=${quoted(`${host}/static/array.js`)} crossorigin="anonymous" async></script>`;

const react = ({ host, projectKey }: Target): string => `import { PostHogProvider } from "@posthog/react";

<PostHogProvider apiKey=${quoted(projectKey)} options={{ api_host: ${quoted(host)} }}>
  <App />
</PostHogProvider>`;

const next = `import posthog from "posthog-js";

posthog.init(process.env.NEXT_PUBLIC_POSTHOG_KEY, {
  api_host: process.env.NEXT_PUBLIC_POSTHOG_HOST,
});`;

const python = ({ host, projectKey }: Target): string => `from posthog import Posthog

posthog = Posthog(${quoted(projectKey)}, host=${quoted(host)})
posthog.capture("hello", distinct_id="user-1")
posthog.shutdown()`;

const curl = ({ host, projectKey }: Target): string => `curl ${shellQuoted(`${host}/i/v0/e/`)} \\
  -H 'content-type: application/json' \\
  --data-raw ${shellQuoted(JSON.stringify({ api_key: projectKey, event: "hello", distinct_id: "user-1" }))}`;

/** Variables of the environment, a snippet for each group. */
function env({ host, projectKey, personalKey, projectId }: Target): Way["snippets"] {
  const access: Access = {
    url: host,
    project_api_key: projectKey,
    personal_api_key: personalKey ?? "",
    project_id: projectId,
  };
  return envGroups(access, undefined).map(({ comments, variables }) => ({
    where: comments[0] ?? "",
    code: variables.flatMap(([name, value]) => (value === "" ? [] : [`${name}=${value}`])).join("\n"),
  }));
}

const way = (
  id: string,
  title: string,
  snippets: readonly (readonly [where: string, code: string])[],
  ...notes: readonly string[]
): Way => ({ id, title, snippets: snippets.map(([where, code]) => ({ where, code })), notes });

/** Every way to send events, with the given host and keys. */
export function waysFor(target: Target): Way[] {
  const { host, projectKey } = target;
  const nextEnv = `NEXT_PUBLIC_POSTHOG_KEY=${projectKey}\nNEXT_PUBLIC_POSTHOG_HOST=${host}`;
  const hello = browserSnippet(projectKey, host, 'capture("hello")');
  const nodeHello = nodeSnippet(projectKey, host, nodeCapture);
  const install = (command: string) => ["Once", command] as const;
  return [
    way("js", "posthog-js", [install("npm install posthog-js"), ["Where your app starts", hello]], bots),
    way(
      "html",
      "HTML snippet",
      [["In the page's <head>", html(target)]],
      "Or keep your existing snippet and change only the key and api_host.",
      "array.js is served from the posthog-js that is installed beside your app.",
      bots,
    ),
    way("react", "React", [install("npm install posthog-js @posthog/react"), ["main.tsx", react(target)]], bots),
    way(
      "next",
      "Next.js",
      [
        [".env.local", nextEnv],
        ["instrumentation-client.ts", next],
      ],
      "Next reads .env.local when it starts: restart it after a change.",
      bots,
    ),
    way("node", "Node", [install("npm install posthog-node"), ["hello.mjs", nodeHello]], batches),
    way("python", "Python", [install("pip install posthog"), ["hello.py", python(target)]], batches),
    way("curl", "curl", [["In a terminal", curl(target)]], "Any HTTP client works like this."),
    {
      id: "env",
      title: ".env",
      snippets: env(target),
      notes: ["The same in the terminal: phx-sim env --framework next|vite|nuxt|expo|node"],
    },
  ];
}
