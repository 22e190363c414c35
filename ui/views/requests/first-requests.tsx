import { info, projectKey } from "../../app/sim.ts";
import { Code, Empty } from "../../parts/basics.tsx";

/** Empty state: how to send a request. */
export function FirstRequests() {
  const url = info.value?.url ?? location.origin;
  const key = projectKey.value ?? "YOUR_PROJECT_KEY";
  return (
    <Empty title="No requests yet">
      <p>
        Every call that reaches this sim is shown here: events, flags, the management API, and rejected ones,
        with the reason. Point an SDK at {url}, or try one call:
      </p>
      <Code
        label="Terminal"
        text={`curl ${url}/batch/ \\\n  --json '{"api_key":"${key}","batch":[{"event":"hello","distinct_id":"me"}]}'`}
      />
      <p>Requests of this page are not listed.</p>
    </Empty>
  );
}
