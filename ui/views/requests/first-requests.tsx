import { info, projectKey } from "../../app/sim.ts";
import { Code, Empty } from "../../parts/basics.tsx";

/** Nothing has come yet: how to send something. */
export function FirstRequests() {
  const url = info.value?.url ?? location.origin;
  const key = projectKey.value ?? "YOUR_PROJECT_KEY";
  return (
    <Empty title="No requests yet">
      <p>
        Every call that reaches this sim is shown here: events, flags, the management API, and what was
        refused, with the reason. Point an SDK at {url}, or try one call:
      </p>
      <Code
        label="Terminal"
        text={`curl ${url}/batch/ \\\n  --json '{"api_key":"${key}","batch":[{"event":"hello","distinct_id":"me"}]}'`}
      />
      <p>Calls of this page are not shown.</p>
    </Empty>
  );
}
