import { adopt } from "../../app/late-styles.ts";
import { link, project, route } from "../../app/location.ts";
import { info, useTotals } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Empty } from "../../parts/basics.tsx";
import { FirstRun } from "./guide.tsx";
import { Health } from "./health.tsx";
import styles from "./start.css";

adopt(styles);

/** The start page: what to paste until something arrives, then the state of the traffic. */
export function StartView() {
  const totals = useTotals({ project: project.value });
  // shows nothing until it is known what arrived
  if (!totals) return <div class="start" />;
  const isEmpty = totals.events.total + totals.requests.rejected === 0;
  if (totals.events.total === 0 && isGone()) return <NoProject />;
  const isGuide = isEmpty || route.value.params.with !== undefined;
  const ways = isEmpty ? null : <Ways isGuide={isGuide} />;
  return isGuide ? (
    <FirstRun isEmpty={isEmpty} isElsewhere={isEmpty && isBusyElsewhere()} ways={ways} />
  ) : (
    <Health totals={totals} ways={ways} />
  );
}

const isGone = (): boolean =>
  project.value !== undefined && info.value?.projects.every(({ id }) => id !== project.value) === true;

const isBusyElsewhere = (): boolean => project.value !== undefined && (stat.value?.events ?? 0) > 0;

/** Between the two states of the page once something arrived. */
const Ways = ({ isGuide }: { isGuide: boolean }) => (
  <nav class="start-ways" aria-label="Start">
    <a href={link("start")} aria-current={isGuide ? undefined : "page"}>
      Health
    </a>
    <a href={link("start", [], { with: "js" })} aria-current={isGuide ? "page" : undefined}>
      Connect an app
    </a>
  </nav>
);

function NoProject() {
  return (
    <Empty title="Project not found">
      <p>
        Project {project.value} does not exist.{" "}
        <a href={link("start", [], { project: undefined })}>Show all projects</a>.
      </p>
    </Empty>
  );
}
