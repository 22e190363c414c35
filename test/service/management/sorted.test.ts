import { expect, test } from "vitest";
import { compareText } from "../../../src/kernel/base/text.ts";
import { sortedByProject } from "../../../src/service/api-frame/sorted.ts";
import { openInsightPlaces } from "../../../src/service/management/insights/insight-views.ts";
import { dashboardKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { Dashboard } from "../../../src/state/documents/world.ts";
import { boardsUrl, withBoards } from "./boards.ts";
import { manage } from "./manage.ts";
import { startedAt } from "./world.ts";

const compare = (a: Dashboard, b: Dashboard) => compareText(a.name ?? "", b.name ?? "") || a.id - b.id;
const has = ({ deleted }: Dashboard) => !deleted;

/** Numbers that look random and are the same in each run. */
function numbers(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

test.each([1, 2, 3])("a kept order is the order of sorting anew, seed %i", (seed) => {
  const { worlds } = manage();
  const next = numbers(seed);
  const listOf = sortedByProject(worlds, "dashboards", { compare, has });
  const random = (id: number) =>
    dashboardKind.blank({ id, project: 1 + next(2), name: `${next(9)}`, deleted: next(5) === 0 }, startedAt);
  for (let round = 0; round < 60; round++) {
    worlds.change((draft) => {
      for (let i = next(4) === 0 ? 40 : next(3); i >= 0; i--) draft.put("dashboards", random(1 + next(60)));
      for (let i = next(8) === 0 ? 30 : next(2); i > 0; i--) draft.remove("dashboards", 1 + next(60));
    });
    for (const project of [1, 2]) {
      const anew = worlds.current.dashboards.filter((it) => it.project === project && has(it)).sort(compare);
      expect(listOf(project)).toEqual(anew);
    }
  }
});

test("places of insights follow every change of a dashboard", async () => {
  const sim = manage({ world: withBoards() });
  const places = openInsightPlaces(sim.desk);
  const ids = (insight: number) => places(insight).map(({ dashboard, tile }) => [dashboard.id, tile.id]);
  expect(ids(300)).toEqual([[10, 101]]);
  await sim.patch(`${boardsUrl}/10`, { name: "Renamed" });
  expect(places(300).map(({ dashboard }) => dashboard.name)).toEqual(["Renamed"]);
  await sim.patch(`${boardsUrl}/10`, { tiles: [{ id: 101, deleted: true }] });
  expect(ids(300)).toEqual([]);
  await sim.patch(`${boardsUrl}/13`, { deleted: false });
  expect(ids(303)).toEqual([[13, 130]]);
  sim.worlds.change((draft) => draft.remove("dashboards", 13));
  expect(ids(303)).toEqual([]);
  expect(ids(301)).toEqual([[10, 102]]);
});
