import { describe, expect, test } from "vitest";
import { globs, pathOf, routeOf } from "../../../../src/lab/tapes/format/routes.ts";
import { fc } from "../../../support/chance.ts";

const uuid = "0190f1f2-aaaa-7bbb-8ccc-0123456789ab";

describe("routeOf", () => {
  test.each([
    ["POST", "/e/", "capture"],
    ["GET", "/e/?data=e30", "capture"],
    ["POST", "/i/v0/e/?ip=1&_=1&ver=1.2", "capture"],
    ["POST", "/capture", "capture"],
    ["POST", "/batch/", "capture"],
    ["POST", "//batch//", "capture"],
    ["POST", "/track/", "capture"],
    ["POST", "/engage/", "capture"],
    ["POST", "/i/v1/analytics/events", "capture"],
    ["POST", "/i/v1/ai/events", "capture"],
    ["POST", "/i/v0/ai", "capture"],
    ["POST", "/i/v0/ai/batch", "capture"],
    ["POST", "/s/?compression=gzip-js", "recordings"],
    ["POST", "/flags/?v=2", "flags"],
    ["POST", "https://eu.i.posthog.com/flags/?v=2", "flags"],
    ["POST", "/decide?v=3", "flags"],
    ["GET", "/array/phc_abc/config", "remote-config"],
    ["GET", "/array/phc_abc/config.js", "remote-config"],
    ["GET", "/array/phc_abc/array.js", "static"],
    ["GET", "/static/recorder.js?v=1", "static"],
    ["GET", "/static", "static"],
    ["GET", "/flags/definitions?send_cohorts", "local-evaluation"],
    ["GET", "/api/feature_flag/local_evaluation?token=x", "local-evaluation"],
    ["GET", "/api/projects/7/feature_flags/local_evaluation/", "local-evaluation"],
    ["GET", "/api/projects/@current/dashboards/?limit=5", "GET /api/projects/@current/dashboards"],
    ["patch", "/api/projects/12/dashboards/34/", "PATCH /api/projects/:id/dashboards/:id"],
    [
      "DELETE",
      `/api/organizations/${uuid}/batch_exports/${uuid.toUpperCase()}`,
      "DELETE /api/organizations/:id/batch_exports/:id",
    ],
    [
      "GET",
      "/api/projects/1/feature_flags/beta-2/remote_config",
      "GET /api/projects/:id/feature_flags/beta-2/remote_config",
    ],
    ["GET", "/api/surveys/?token=x", "GET /api/surveys"],
    ["GET", "/api/x/phx_abcdef/y?a=1", "GET /api/x/:key/y"],
    ["GET", "/api/x/phx%5Fabcdef", "GET /api/x/:key"],
    ["GET", "/site_app/1/phc_abcdef", "GET /site_app/:id/:key"],
    ["GET", "/api/x/%7B%7Bsecret%3Apersonal_api_key%231%7D%7D", "GET /api/x/:key"],
    ["GET", "/shared/autumn-campaign", "GET /shared/:key"],
    ["GET", "/shared", "GET /shared"],
    ["GET", "/api/x/graphx_abcdef", "GET /api/x/graphx_abcdef"],
    ["GET", "/", "GET /"],
    ["GET", "https://us.posthog.com", "GET /"],
    ["GET", "https://us.posthog.com?x=1", "GET /"],
    ["GET", "/extra", "GET /extra"],
    ["GET", "/flagship", "GET /flagship"],
    ["GET", "/constructor", "GET /constructor"],
  ])("%s %s is %s", (method, path, route) => {
    expect(routeOf(method, path)).toBe(route);
  });

  test("any target has a route, and the same one without its query", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
        expect(routeOf("GET", `${path}?${query}`)).toBe(routeOf("GET", pathOf(path)));
      }),
      { numRuns: 40 },
    );
  });
});

describe("globs", () => {
  test.each([
    ["/api/**", "/api/projects/1/", true],
    ["/api/**", "/api", true],
    ["/api/**", "/apis", false],
    ["/s/", "/s?x=1", true],
    ["/s/", "/s/x", false],
    ["/api/*/flags", "/api/1/flags", true],
    ["/api/*/flags", "/api/1/2/flags", false],
    ["/api/**/flags", "/api/1/2/flags", true],
    ["*.js", "https://us-assets.i.posthog.com/static/array.js?v=1", true],
    ["*.js", "/static/arrayxjs", false],
    ["/e?", "/e1", true],
    ["/e?", "/e", false],
    ["/", "/", true],
    ["/**", "/", true],
    ["(a+)+$", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", false],
  ])("%s and %s: %s", (glob, target, fits) => {
    expect(globs([glob])(target)).toBe(fits);
  });

  test("no glob fits nothing, and an empty one is refused", () => {
    expect(globs([])("/e")).toBe(false);
    expect(() => globs(["/e", " "])).toThrow(TypeError);
  });
});
