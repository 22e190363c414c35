/** What a reader of a page has before its first command. */
export type Given =
  /** An app with tests, a dev script and a proxy for PostHog. */
  | "app"
  /** It runs, and sends to the service as in production. */
  | "running"
  /** It runs, and its proxy points to the sim. */
  | "proxied"
  /** A sim that runs and has events. */
  | "sim"
  /** That sim's address in PHX_SIM_URL. */
  | "address"
  /** The key of a live project. */
  | "key"
  /** A scenario of that project, and a plan of the events that arrived. */
  | "twin"
  | "plan"
  /** Tapes of the app's tests, a HAR file. */
  | "tapes"
  /** The report of a run. */
  | "report"
  /** Baselines of two branches, a repository, a report. */
  | "baseline"
  | "chromium";

interface Expected {
  /** Its exit code, where the page says that it is not 0. */
  readonly code?: number;
  /** A part of what it prints. */
  readonly prints?: RegExp;
  /** Why it is not run. */
  readonly not?: string;
}

export interface Page {
  readonly given?: readonly Given[];
  /** Of commands whose end is not just exit code 0. */
  readonly commands?: Readonly<Record<string, Expected>>;
}

const clone = "works in a clone of the repository, which a package is not";
const framework = "starts the dev server of a framework, which is not installed here";
const languages = "runs the tests of another language: test/usage/languages.test.ts";
const registry = "npm would ask the registry; what is installed here was packed from this folder";
const runners = "test/usage/runners.test.ts runs it with the published files";
const shells = "needs another shell than bash: test/cli/completion.test.ts";
const docker = "needs Docker: scripts/check-image.mjs";

/** By page: what its reader has, and the few commands that are not just run and end with 0. */
export const pages: Readonly<Record<string, Page>> = {
  "README.md": {
    given: ["app"],
    commands: {
      "npm ci && npm start": { not: clone },
      "npm ci && npm test": { not: clone },
      "npm install --save-dev phx-sim": { not: registry },
      "npm run fuzz:flags": { not: clone },
    },
  },
  "docs/agents.md": { given: ["app", "sim", "chromium"] },
  "docs/analytics-diff.md": { given: ["app", "baseline"] },
  "docs/assertions.md": {
    given: ["app"],
    commands: { "PHX_SIM_URL=http://127.0.0.1:7490 npx vitest run": { not: runners } },
  },
  "docs/check.md": {
    given: ["app", "running", "chromium"],
    commands: {
      "npx playwright install chromium": { not: "downloads a browser" },
      "npm install posthog-js": { not: registry },
      "npm run check:planted": { not: clone },
    },
  },
  "docs/coverage-and-matrix.md": { given: ["app", "sim"] },
  "docs/data.md": { given: ["app", "sim"] },
  "docs/events.md": { given: ["app", "sim", "address"] },
  "docs/faults-clock-state.md": { given: ["app", "sim"] },
  "docs/flags.md": { given: ["app", "sim"] },
  "docs/live-twin.md": { given: ["app", "baseline"] },
  "docs/plan-and-lint.md": { given: ["app", "sim"] },
  "docs/proxies.md": {
    given: ["app", "proxied"],
    commands: {
      "POSTHOG_HOST=http://127.0.0.1:7490 npx next dev": { not: framework },
      "npm run check:proxies": { not: clone },
    },
  },
  "docs/queries.md": { given: ["app", "sim"] },
  "docs/recipes/backend.md": {
    given: ["app"],
    commands: {
      "npx phx-sim exec --kill-after-response -- node server.mjs /checkout": {
        not: "test/usage/recipes.test.ts runs it with the app of the page",
      },
      "npx phx-sim exec --fail-on dropped,rejected -- python manage.py test": { not: languages },
      "npx phx-sim exec --fail-on dropped,rejected -- bin/rails test": { not: languages },
    },
  },
  "docs/recipes/ci.md": {
    given: ["app"],
    commands: {
      "npm ci": { not: registry },
      "docker build -t phx-sim https://github.com/phx-sim/phx-sim.git": { not: docker },
      "docker run --rm -p 127.0.0.1:7490:7490 -e PHX_SIM_TOKEN -v ./scenarios:/scenarios:ro phx-sim start shop.json":
        { not: docker },
    },
  },
  "docs/recipes/web.md": {
    given: ["app", "proxied"],
    commands: {
      "npx next dev": { not: framework },
      "npx phx-sim exec -- npx vite": { not: framework },
      "npx phx-sim exec -- npx nuxt dev": { not: framework },
      "npx vite dev": { not: framework },
    },
  },
  "docs/recordings.md": { given: ["app", "sim"] },
  "docs/reference/verdict.md": { given: ["app"] },
  "docs/scenarios.md": { given: ["app"] },
  "docs/sdks.md": { given: ["app"] },
  "docs/tapes.md": { given: ["app", "tapes"] },
  "docs/testing/cypress.md": {
    commands: {
      "npx phx-sim exec --fail-on dropped,rejected -- sh -c 'npm run build && npx start-server-and-test preview 3000 \"cypress run\"'":
        { not: "needs Cypress" },
    },
  },
  "docs/testing/http.md": {
    given: ["app", "sim", "address"],
    commands: {
      "npx phx-sim exec --fail-on dropped,rejected -- pytest": { not: languages },
      "npx phx-sim exec -- pytest": { not: languages },
      "pip install phx-sim": { not: languages },
      "cp -R ../phx-sim/clients/python/src/phx_sim .": { not: languages },
    },
  },
  "docs/inspector.md": { commands: { "phx-sim start --open": { not: "opens the browser of this machine" } } },
  "docs/testing/jest.md": {
    commands: {
      "npm install --save-dev phx-sim": { not: registry },
      "phx-sim exec -- npx jest": { not: runners },
    },
  },
  "docs/testing/playwright.md": {
    commands: { "phx-sim exec -- npx playwright test": { not: "test/usage/playwright.test.ts" } },
  },
  "docs/testing/runners.md": { commands: { "phx-sim exec -- bun test": { not: "needs Bun" } } },
  "docs/testing/vitest.md": {
    commands: {
      "npm install --save-dev phx-sim": { not: registry },
      "phx-sim exec -- npx vitest run": { not: runners },
    },
  },
  "docs/traffic.md": { given: ["app", "sim"] },
  "docs/troubleshooting.md": { given: ["app", "sim", "proxied"], commands: { "npm ci": { not: registry } } },
  "client commands": { given: ["app", "sim", "report"] },
  "phx-sim events clear --help": { given: ["app", "sim"] },
  "phx-sim generate --help": { given: ["app", "sim"] },
  "phx-sim start --help": { given: ["app"] },
  "phx-sim stop --help": {
    given: ["app", "sim"],
    commands: { "phx-sim stop --url http://127.0.0.1:7490": { code: 5 } },
  },
  "phx-sim status --help": { given: ["app", "sim"] },
  "phx-sim env --help": { given: ["app"] },
  "phx-sim doctor --help": { given: ["app", "sim", "proxied"] },
  "phx-sim check --help": { given: ["app", "running", "chromium"] },
  "phx-sim exec --help": {
    given: ["app"],
    commands: { "phx-sim exec --fail-on dropped,rejected -- npx vitest run": { not: runners } },
  },
  "phx-sim record --help": { given: ["app", "tapes"] },
  "phx-sim replay --help": { given: ["app", "tapes"] },
  "phx-sim verify --help": { given: ["app", "tapes"] },
  "phx-sim send --help": {
    given: ["app", "sim", "tapes"],
    commands: {
      "phx-sim send checkout --to https://staging.example --yes --allow-host staging.example --token phc_staging":
        {
          not: "sends to another machine",
        },
    },
  },
  "phx-sim completion --help": {
    commands: {
      'eval "$(phx-sim completion zsh)"': { not: shells },
    },
  },
  "phx-sim scenario check --help": { given: ["app"] },
  "phx-sim pull --help": { given: ["app", "key"] },
  "phx-sim impact --help": { given: ["app", "baseline", "key", "twin"] },
  "phx-sim plan types --help": { given: ["app", "sim", "plan"] },
  "phx-sim baseline update --help": { given: ["app", "baseline"] },
  "phx-sim baseline diff --help": { given: ["app", "baseline"] },
  "phx-sim baseline show --help": { given: ["app", "baseline"] },
  "phx-sim tape list --help": { given: ["app", "tapes"] },
  "phx-sim tape show --help": { given: ["app", "tapes"] },
  "phx-sim tape import --help": { given: ["app", "tapes"] },
  "phx-sim tape export --help": { given: ["app", "tapes"] },
  "phx-sim tape check --help": { given: ["app", "tapes"] },
  "phx-sim tape diff --help": { given: ["app", "tapes"] },
};
