import { expect, test } from "vitest";
import { scriptCalls } from "../../../src/tools/call-coverage/script-calls.ts";

/** `event signed_up`, `flag null` of each call site. */
const inScript = (code: string, file = "app.tsx", wrappers: string[] = []): string[] =>
  scriptCalls(code, file, new Set(wrappers)).sites.map(({ kind, name }) => `${kind} ${name}`);

test.each([
  ['posthog.capture("a")', "event a"],
  ["posthog.capture('a', { n: 1 })", "event a"],
  ['posthog?.capture("a")', "event a"],
  ['window.posthog!.capture("a" as const)', "event a"],
  ['this.posthog.capture("a")', "event a"],
  ['usePostHog().capture("a")', "event a"],
  ['usePostHog()?.capture("a")', "event a"],
  ['const ph = usePostHog(); const track = () => ph.capture("a");', "event a"],
  ['const { capture } = usePostHog(); capture("a");', "event a"],
  ['const { capture: send } = usePostHog(); send("a");', "event a"],
  ['import hog from "posthog-js"; hog.capture("a")', "event a"],
  ['const c = new PostHog("k"); c.capture({ distinctId: "u", event: "a" })', "event a"],
  ['server.capture({ distinctId: "u", event: "a" })', "event a"],
  ['client.capture({ event: "a" }); // posthog', "event a"],
  ['await client.captureImmediate({ distinctId: "u", event: "a" })', "event a"],
  ["posthog.capture(`a`)", "event a"],
  ['const NAME = "a"; posthog.capture(NAME)', "event a"],
  ["const P = 'order'; posthog.capture(`$" + "{P}_sent`)", "event order_sent"],
  ['const P = "order"; posthog.capture(P + "_sent")', "event order_sent"],
  ['const E = { SENT: "a" } as const; posthog.capture(E.SENT)', "event a"],
  ['enum E { Sent = "a" } posthog.capture(E.Sent)', "event a"],
  ["posthog.capture(name)", "event null"],
  ["posthog.capture(`order_$" + "{id}`)", "event null"],
  ['let name = "a"; posthog.capture(name)', "event null"],
  ['posthog.isFeatureEnabled("f")', "flag f"],
  ['posthog.getFeatureFlag("f", "u")', "flag f"],
  ['posthog.getFeatureFlagPayload("f")', "flag f"],
  ['useFeatureFlagEnabled("f")', "flag f"],
  ['useFeatureFlagVariantKey("f")', "flag f"],
  ['const page = <PostHogFeature flag="f" match={true}><b /></PostHogFeature>', "flag f"],
  ['import { useFeatureFlagEnabled as on } from "posthog-js/react"; on("f")', "flag f"],
  ['import { PostHogFeature as F } from "posthog-js/react"; <F flag="f" match />', "flag f"],
  ['const track = posthog.capture; track("a")', "event a"],
  ['const ph = usePostHog(); const track = ph?.capture.bind(ph); track("a")', "event a"],
  ['posthog.identify("u")', "identity $identify"],
  ['posthog.group("company", "acme")', "identity $groupidentify"],
  ["posthog.captureException(error)", "exception $exception"],
])("%s", (code, site) => {
  expect(inScript(code)).toEqual([site]);
});

test("both names of a condition", () => {
  expect(inScript('posthog.capture(isNew ? "a" : "b")')).toEqual(["event a", "event b"]);
});

test.each([
  '// posthog.capture("a")',
  '/* posthog.capture("a") */',
  `const text = 'posthog.capture("a")';`,
  'Sentry.captureException(error); posthog.init("k")',
  'stream.capture("a"); posthog.init("k")',
  'console.group("x"); posthog.init("k")',
  'analytics.identify("u")',
  'analytics.capture("a")',
  'capture("a")',
  'client.capture({ event: "a" })',
  'flags.isFeatureEnabled("f")',
  "posthog.capturing()",
  'posthog.register({ a: "capture" })',
  'interface Client { capture(event: "a"): void }',
])("%s is no call", (code) => {
  expect(inScript(code)).toEqual([]);
});

test("own functions, if they are named", () => {
  const code = 'track("a"); analytics.track("b"); other.track("c");';
  expect(inScript(code, "app.ts", ["track", "analytics.track"])).toEqual(["event a", "event b"]);
  expect(inScript(code)).toEqual([]);
});

test.each([
  ["a.js", "const a = <b>{posthog.capture('x')}</b>;"],
  ["a.mjs", "export const a = posthog.capture('x');"],
  ["a.cjs", "with (b) { posthog.capture('x') }"],
  ["a.ts", "const b = <string>c; @d() class E { constructor(@f() g: H) { posthog.capture('x') } }"],
  ["a.js", "// @flow\nfunction f(a: ?string) { posthog.capture('x') }"],
  ["a.vue", "<template>{{ it's }}</template>\n<script setup lang=\"ts\">\nposthog.capture('x' as string)\n</script>"],
  ["a.svelte", "<script>posthog.capture('x')</script>\n<p>{a}</p>"],
])("%s: %s", (file, code) => {
  expect(inScript(code, file)).toEqual(["event x"]);
});

test("places are those of the method, also in a component", () => {
  const { sites } = scriptCalls("<template />\n<script>\n  posthog.capture('x')\n</script>", "a.vue", new Set());
  expect(sites).toMatchObject([{ line: 3, column: 11 }]);
});

test.each([
  ["a.vue", `<template><b @click="posthog.capture('x')">it's</b></template>`],
  ["a.vue", `<template><b @click.prevent="a = 1; $posthog.capture('x')" /></template>`],
  ["a.vue", `<template><b v-on:click='() => posthog.capture("x")'>{{ a }}</b></template>`],
  ["a.vue", `<template><b v-on="{ click: () => posthog.capture('x') }" /></template>`],
  ["a.vue", `<template><b :on-done="() => posthog.capture(&quot;x&quot;)" /></template>`],
  ["a.vue", `<template>{{ posthog.capture("x") }}</template>`],
  ["a.vue", `<template><b @click="ph.capture(E.X)" /></template><script>const E = { X: 'x' }</script>`],
  ["a.vue", "<script lang=\"tsx\">const a = <b>{posthog.capture('x' as string)}</b></script>"],
  ["a.svelte", `<b onclick={() => posthog.capture("x")}>it's {a} isn't</b>`],
  ["a.svelte", `<p>it's http://a {b} it's</p><b on:click={() => { a(); posthog.capture("x") }} />`],
  ["a.svelte", `<b on:click|once="{() => posthog.capture('x')}" />`],
  ["a.svelte", `<b onclick="posthog.capture('x')" />`],
  ["a.svelte", `{@const name = "x"}<b onclick={() => posthog.capture(name)} />`],
  ["a.svelte", `<script generics="T extends Map<string, U>">posthog.capture("x")</script>`],
  ["a.svelte", `{@render row({ a: posthog.capture("x") })}{/if}{:else}{#snippet b(c)}{/snippet}`],
  ["a.astro", `---\r\nconst a = 1;\r\n---\r\n<b onclick="posthog.capture('x')">it's</b>`],
  ["a.astro", `{list.map((it) => (<li><img src="a.png"><b onclick={() => posthog.capture("x")} /></li>))}`],
  ["a.astro", `{list.map((it) => (<b onclick="posthog.capture('x')">{it}<br></b>))}`],
  ["a.astro", `{list.map((it) => (<p>a <b></p> {posthog.capture("x")}))}`],
  ["a.astro", `---\nposthog.capture("x")\n---\n{...a}<!-- {posthog.capture("b")} -->`],
  ["a.astro", `<b />\n---\n<script is:inline>posthog.capture("x")</script>`],
])("in markup: %s: %s", (file, code) => {
  expect(inScript(code, file)).toEqual(["event x"]);
});

test.each([
  ["a.vue", `<template><b v-if="$posthog.isFeatureEnabled('f')" /></template>`],
  ["a.vue", `<template><b v-for="a of posthog.getFeatureFlagPayload('f')" /></template>`],
  ["a.svelte", `{#if posthog.isFeatureEnabled("f")}<b />{:else}{/if}`],
  ["a.svelte", `{#if a}<b />{:else if posthog.isFeatureEnabled("f")}{/if}`],
  ["a.svelte", `{#each posthog.getFeatureFlagPayload("f") as { id, n = 1 }, i (id)}{id}{/each}`],
  ["a.svelte", `{#await posthog.getFeatureFlag("f") then value}{value}{/await}`],
  ["a.svelte", `{#key posthog.getFeatureFlag("f")}<b />{/key}`],
  ["a.astro", `{posthog.isFeatureEnabled("f") && <br>}`],
  ["a.astro", `{posthog.isFeatureEnabled("f") ? <p>it's</p> : <a href="b">c</a>}`],
])("a flag in markup: %s: %s", (file, code) => {
  expect(inScript(code, file)).toEqual(["flag f"]);
});

test.each([
  ["a.vue", `<!-- <b @click="posthog.capture('x')" /> -->`],
  ["a.vue", '<template><b @click="a" title="posthog.capture(\'x\')">{{ it\'s }}</b></template>'],
  ["a.svelte", "<style>b { content: \"{posthog.capture('x')}\" }</style>"],
  ["a.svelte", `<script type="application/ld+json">{"a": "posthog.capture('x')"}</script>`],
  ["a.svelte", `<p>posthog.capture("x")</p>`],
  ["a.astro", `<p title="posthog.capture('x')">it's</p>`],
])("%s: %s has no call", (file, code) => {
  expect(scriptCalls(code, file, new Set())).toEqual({ sites: [], problems: [] });
});

test("frontmatter and a script of Astro may import the same name", () => {
  const code = `---\nimport posthog from "a";\nconst b = posthog;\n---\n<script>\n  import posthog from "b";\n  posthog.capture("x");\n</script>`;
  expect(scriptCalls(code, "a.astro", new Set())).toMatchObject({
    sites: [{ name: "x", line: 7, column: 11 }],
    problems: [],
  });
});

test.each([
  ["a.vue", `<b />\n<b @click="posthog.capture('x'" />`, { line: 2, column: 31 }],
  ["a.vue", `<template lang="pug">\nb(@click="a")\n</template>`, { message: "a template in pug is not read" }],
  ["a.svelte", `\n{posthog.capture("x")`, { line: 2, column: 1, message: "a brace that is not closed: not read" }],
  ["a.svelte", `{#if posthog.capture("x" +)}{/if}`, { message: "Unexpected token" }],
  ["a.astro", `{posthog.isFeatureEnabled("f") && <p><b></p>}`, { line: 1 }],
])("what cannot be read is reported: %s: %s", (file, code, problem) => {
  const { sites, problems } = scriptCalls(code, file, new Set());
  expect(sites).toEqual([]);
  expect(problems).toMatchObject([problem]);
});

test.each(["{", "{ '", "<!--", "<script ", "<style>", "{{", "<img ", ' @a="', "`", "/*", "{a:"])(
  "many of %j end",
  (it) => {
    for (const file of ["a.vue", "a.svelte", "a.astro"]) {
      const { sites } = scriptCalls(`${it.repeat(5_000)} posthog`, file, new Set());
      expect(sites).toEqual([]);
    }
  },
);

test("a syntax error has its place, and what can be read counts", () => {
  const broken = scriptCalls("posthog.capture('a');\nconst = 1;", "a.ts", new Set());
  expect(broken.problems[0]).toMatchObject({ line: 2, column: 7, message: expect.stringMatching(/^Unexpected/) });
  const twice = scriptCalls("posthog.capture('a'); const b = 1; const b = 2;", "a.ts", new Set());
  expect(twice.problems[0]).toMatchObject({ line: 1, message: expect.stringContaining("already been declared") });
  expect(twice.sites).toHaveLength(1);
});
