import { info } from "../../app/sim.ts";
import { Code, Facts, Section } from "../../parts/basics.tsx";

/** The first page: what to paste where. */
export function StartView() {
  const sim = info.value;
  if (!sim) return null;
  return (
    <Section title="Point your app here">
      <Facts
        rows={[
          ["Host", sim.url],
          ["Project key", sim.project_api_key],
        ]}
      />
      <Code label=".env" text={`POSTHOG_HOST=${sim.url}\nPOSTHOG_KEY=${sim.project_api_key}`} />
    </Section>
  );
}
