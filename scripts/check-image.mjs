// Executes the Dockerfile where no container runtime exists: each stage in a root directory of its own, whose only content
// is this machine's /usr (with the Node of the FROM line) and the files that the steps write. Then starts the image as
// its user, waits for its HEALTHCHECK, captures an event, stops it, and starts it again on the same data. Run as root
// by `npm run check:image`. Linux only.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { nodeOf, root } from "./nodes.mjs";

const work = mkdtempSync(join(tmpdir(), "phx-image-"));
const uid = 1000;

let failures = 0;
function check(what, holds, details = "") {
  if (!holds) failures += 1;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || details === "" ? "" : `\n${details}`}`);
}

const instructions = readFileSync(join(root, "Dockerfile"), "utf8")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => /^(\w+)\s+(.*)$/.exec(line).slice(1));

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const named = (path, from) => (path === "." ? from : path);

/** An empty root directory, with the files that a base image has besides /usr. */
function newStage(image) {
  const at = mkdtempSync(join(work, "stage-"));
  for (const folder of ["root/usr", "root/etc", "root/proc", "root/dev", "root/root", "upper", "scratch"])
    mkdirSync(join(at, folder), { recursive: true });
  mkdirSync(join(at, "root/tmp"), { mode: 0o1777 });
  for (const folder of ["bin", "lib", "lib64", "sbin"]) symlinkSync(`usr/${folder}`, join(at, "root", folder));
  for (const file of ["resolv.conf", "hosts", "nsswitch.conf", "ssl", "npmrc", "ca-certificates.conf"])
    if (existsSync(`/etc/${file}`))
      cpSync(`/etc/${file}`, join(at, "root/etc", file), { recursive: true, dereference: true });
  writeFileSync(join(at, "root/etc/passwd"), `root:x:0:0::/root:/bin/sh\nnode:x:${uid}:${uid}::/home/node:/bin/sh\n`);
  writeFileSync(join(at, "root/etc/group"), `root:x:0:\nnode:x:${uid}:\n`);
  const [, major] = /^node:(\d+)/.exec(image);
  return {
    at,
    root: join(at, "root"),
    node: nodeOf(major),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    folder: "/",
    user: "root",
  };
}

/** A shell script that runs in the stage's root directory, as its user, with its variables. */
function inside({ at, root: base, node, env, folder, user }, script, more = {}) {
  const who = user === "root" ? [] : [`--userspec=${user}:${user}`];
  const words = ["env", "-i", ...Object.entries({ HOME: "/root", ...env, ...more }).map(([k, v]) => `${k}=${v}`)];
  return `set -eu
mount -t overlay overlay -o lowerdir=/usr,upperdir=${at}/upper,workdir=${at}/scratch ${base}/usr
mkdir -p ${base}/usr/local/bin && touch ${base}/usr/local/bin/node
mount --bind ${node} ${base}/usr/local/bin/node
mount --bind /dev ${base}/dev
mount -t proc proc ${base}/proc
exec chroot ${who.join(" ")} ${base} ${words.map(quoted).join(" ")} sh -c ${quoted(`cd ${folder} && ${script}`)}`;
}

const isolated = ["--mount", "--pid", "--fork", "--kill-child"];

function run(stage, script) {
  const { status } = spawnSync("unshare", [...isolated, "sh", "-c", inside(stage, script)], { stdio: "inherit" });
  if (status !== 0) throw new Error(`the step ended with ${status}: ${script}`);
}

/** The files of the build context: those that git has, as on a fresh checkout, and .dockerignore allows. */
function copyContext(target) {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  const allowed = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((it) => it.startsWith("!"))
    .map((it) => new RegExp(`^${it.slice(1).replaceAll(".", "\\.").replaceAll("*", "[^/]*")}(/|$)`));
  for (const file of files.split("\0").filter((it) => allowed.some((pattern) => pattern.test(it))))
    if (existsSync(join(root, file))) cpSync(join(root, file), join(target, file));
}

const stages = new Map();
let stage;
let health = [];
let entry = [];
let command = [];
try {
  for (const [name, text] of instructions) {
    console.log(`---- ${name} ${text}`);
    if (name === "FROM") {
      const [image, , alias] = text.split(" ");
      stage = newStage(image);
      stages.set(alias ?? "image", stage);
      // what npm needs to reach its registry from here
      const own = join(homedir(), ".npmrc");
      if (alias !== undefined && existsSync(own)) cpSync(own, join(stage.root, "root/.npmrc"));
    } else if (name === "WORKDIR") {
      stage.folder = text;
      mkdirSync(join(stage.root, text), { recursive: true });
    } else if (name === "ENV") {
      const [key, value] = text.split("=");
      stage.env[key] = value;
    } else if (name === "USER") stage.user = text;
    else if (name === "COPY") {
      const [, from] = /^--from=(\w+)/.exec(text) ?? [];
      const [source, target] = text.split(" ").slice(-2);
      const to = join(stage.root, named(target, stage.folder));
      if (from === undefined) copyContext(to);
      else cpSync(join(stages.get(from).root, source), to);
    } else if (name === "RUN") run(stage, text);
    else if (name === "HEALTHCHECK") health = JSON.parse(text.slice(text.indexOf("[")));
    else if (name === "ENTRYPOINT") entry = JSON.parse(text);
    else if (name === "CMD") command = JSON.parse(text);
    else if (name !== "EXPOSE" && name !== "VOLUME") throw new Error(`${name} is not known to this check`);
  }
  check("every step is executed", true);

  const token = "token-of-the-image-check";
  const capture = `fetch("http://127.0.0.1:7490/capture/", {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: "phc_sim_default", event: "signup", distinct_id: "u1" }) })`;
  const count = `fetch("http://127.0.0.1:7490/__sim/events", { headers: { authorization: "Bearer ${token}" } })
    .then((it) => it.json())`;
  const words = (list) => list.map(quoted).join(" ");
  // The port is that of a network of its own.
  const started = (script) =>
    spawn(
      "unshare",
      [...isolated, "--net", "sh", "-c", `ip link set lo up\n${inside(stage, script, { PHX_SIM_TOKEN: token })}`],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
  const session = (ask) => `${words([...entry, ...command])} & sim=$!
tries=0; until ${words(health)}; do tries=$((tries+1)); [ $tries -lt 120 ] || exit 9; sleep 0.25; done
node -e ${quoted(ask)} || exit 8
kill -TERM $sim; code=0; wait $sim || code=$?; echo "ended $code, user $(id -u)"; touch /usr/x 2>/dev/null && exit 7; exit 0`;
  const outcome = async (ask) => {
    const child = started(session(ask));
    let text = "";
    for await (const part of child.stdout.setEncoding("utf8")) text += part;
    return { text, code: child.exitCode ?? (await new Promise((done) => child.once("exit", done))) };
  };
  const first = await outcome(`${capture}.then((it) => process.exit(it.status === 200 ? 0 : 1))`);
  check(
    "it gets healthy, takes an event and stops",
    first.code === 0 && /ended (0|143)/.test(first.text),
    JSON.stringify(first),
  );
  check("it does not run as root", first.text.includes(`user ${uid}`), first.text);
  const second = await outcome(`${count}.then((it) => { console.log("events " + it.events.length); })`);
  check("its data survive a restart", second.text.includes("events 1"), JSON.stringify(second));
} catch (error) {
  check(error.message, false);
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
