import { describe, expect, test } from "vitest";
import { TapeOrderError } from "../../../src/lab/tapes/ports.ts";
import { readUpstreams, refuseOwnPort } from "../../../src/lab/tapes/upstream/upstreams.ts";

const ingestion = "https://us.i.posthog.com";
const app = "https://us.posthog.com";
const assets = "https://us-assets.i.posthog.com";

describe("which part of the cloud has a path", () => {
  test.each([
    ["/e", ingestion],
    ["/i/v0/e", ingestion],
    ["/batch", ingestion],
    ["/capture", ingestion],
    ["/flags", ingestion],
    ["/decide", ingestion],
    ["/s", ingestion],
    ["/engage", ingestion],
    ["/array/phc_x/config", ingestion],
    ["/array/phc_x/config.js", assets],
    ["/static/array.js", assets],
    ["/static/1.2.3/recorder.js", assets],
    ["/statics", ingestion],
    ["/api/surveys", ingestion],
    ["/api/feature_flag/local_evaluation", ingestion],
    ["/api/early_access_features", ingestion],
    ["/api/projects/1/dashboards", app],
    ["/api/feature_flags", app],
    ["/api", app],
    ["/apis", ingestion],
    ["/shared/abc", app],
    ["/embedded/abc", app],
    ["/", ingestion],
  ])("%s → %s", (path, origin) => {
    expect(readUpstreams("us").baseOf(path).origin).toBe(origin);
  });

  test("eu likewise, in any case", () => {
    expect(readUpstreams(" EU ").baseOf("/e").origin).toBe("https://eu.i.posthog.com");
  });

  test("the host that the sender of a proxied request meant", () => {
    expect(readUpstreams("us").baseOf("/e", "us.posthog.com").origin).toBe(app);
    expect(readUpstreams("us").baseOf("/e", "eu.posthog.com").origin).toBe(ingestion);
  });

  test("a self-hosted service has everything", () => {
    const upstreams = readUpstreams("https://posthog.example.com:8443/ph/");
    expect(upstreams.name).toBe("https://posthog.example.com:8443/ph");
    expect(upstreams.baseOf("/api/projects").href).toBe("https://posthog.example.com:8443/ph/");
    expect(upstreams.origins).toEqual(["https://posthog.example.com:8443"]);
  });
});

test.each([
  ["", /not an upstream/],
  ["uk", /not an upstream/],
  ["posthog.example.com", /not an upstream/],
  ["ftp://example.com", /not an upstream/],
  ["https://", /not an upstream/],
  ["javascript:alert(1)", /not an upstream/],
  ["https://me:secret@example.com", /a name or a password/],
  ["https://example.com/?x=1", /a query or a fragment/],
  ["https://example.com/#x", /a query or a fragment/],
  ["http://169.254.169.254/latest", /link-local/],
  ["http://[fe80::1]/", /link-local/],
  ["http://0xa9fea9fe/", /link-local/],
  ["http://[64:ff9b::a9fe:a9fe]/", /link-local/],
  ["http://168.63.129.16/", /metadata/],
  ["http://[fd00:ec2::254]/", /metadata/],
])("%j is no upstream", (text, message) => {
  expect(() => readUpstreams(text)).toThrow(TapeOrderError);
  expect(() => readUpstreams(text)).toThrow(message);
  expect(() => readUpstreams(text)).not.toThrow(/secret/);
});

test.each([
  ["http://127.0.0.1:7490", "127.0.0.1", true],
  ["http://localhost:7490", "127.0.0.1", true],
  ["http://[::1]:7490", "0.0.0.0", true],
  ["https://sim.test:7490", "sim.test", true],
  ["http://127.0.0.1:7491", "127.0.0.1", false],
  ["http://example.com:7490", "127.0.0.1", false],
])("%s, listening on %s:7490: own %s", (upstream, host, isOwn) => {
  const check = () => refuseOwnPort(readUpstreams(upstream), { host, port: 7490 });
  if (isOwn) expect(check).toThrow(/own address/);
  else expect(check).not.toThrow();
});
