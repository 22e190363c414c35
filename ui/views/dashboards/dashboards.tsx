import { late } from "../../app/late-view.tsx";
import { route } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { Empty } from "../../parts/basics.tsx";
import { DashboardPage } from "./dashboard.tsx";
import { DashboardList } from "./list.tsx";

const InsightForm = late(async () => (await import("./insight-form.tsx")).InsightForm);

/** Dashboards: their list, one of them with its results, and the form of a new insight. */
export function DashboardsView() {
  const [place] = route.value.path;
  const id = numberIn(place);
  return (
    <div class="dashboards">
      {place === undefined && <DashboardList />}
      {place === "new" && <InsightForm key={route.value.params.f} filter={route.value.params.f ?? ""} />}
      {id !== undefined && <DashboardPage key={id} id={id} />}
      {place !== undefined && place !== "new" && id === undefined && <Empty title="Page not found" />}
    </div>
  );
}
