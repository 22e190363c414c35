// Comments the result of a run on its pull request, or updates the comment that it made before.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const { GITHUB_API_URL, GITHUB_EVENT_PATH, GITHUB_JOB, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SERVER_URL } =
  process.env;
const { INPUT_COMMENT: when, INPUT_REPORT: folder, INPUT_TOKEN: token } = process.env;

/** GitHub refuses longer comments. */
const longest = 65_536;
const perPage = 100;

/** Tells the comments of several jobs apart. */
const marker = `<!-- phx-sim: ${GITHUB_JOB} -->`;

/** A comment must not fail the job: its reason is a warning of the run. */
function giveUp(reason) {
  console.log(`::warning title=phx-sim::the pull request has no comment: ${reason}`);
  process.exit(0);
}

async function api(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-github-api-version": "2022-11-28",
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error) => giveUp(`${GITHUB_API_URL} does not answer: ${error.cause?.message ?? error.message}`));
  if (response.ok) return response.json();
  if (response.status === 403 || response.status === 404)
    giveUp(
      "the token may not write comments; give the job `permissions: { pull-requests: write }`. Runs of forks cannot",
    );
  return giveUp(`GitHub answered ${response.status} to ${method} ${path}`);
}

async function ownComment(pull) {
  for (let page = 1; ; page++) {
    const comments = await api("GET", `issues/${pull}/comments?per_page=${perPage}&page=${page}`);
    const found = comments.find((it) => it.body?.startsWith(marker));
    if (found || comments.length < perPage) return found;
  }
}

/** Cuts at a line's end. */
const shortened = (text) =>
  text.length <= longest
    ? text
    : `${text.slice(0, text.lastIndexOf("\n", longest - 200))}\n\n(cut; the report has it all)\n`;

const event = JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8"));
const pull = event.pull_request?.number;
if (pull === undefined) process.exit(0);

const verdict = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"));
const summary = readFileSync(join(folder, "summary.md"), "utf8");
const isWorthReading = verdict.verdict === "failed" || verdict.sections.some((it) => it.total > 0);

const run = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
const body = shortened(`${marker}\n${summary}\n[The run and its report](${run})\n`);
const existing = await ownComment(pull);
// An existing comment must not show what is fixed by now.
if (existing) await api("PATCH", `issues/comments/${existing.id}`, { body });
else if (when === "always" || isWorthReading) await api("POST", `issues/${pull}/comments`, { body });
