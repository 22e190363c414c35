/** Which requests go into a HAR; what is left out does not restrict. */
export interface HarWish {
  readonly filter?: string | undefined;
  readonly project?: number | undefined;
  /** Numbers of the first and the last request. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Most requests of a HAR; the newest are taken. */
export const mostEntries = 10_000;

/** What is asked for, below /__sim/. */
export function harPath({ filter, project, from, to }: HarWish): string {
  const params = new URLSearchParams({ limit: String(mostEntries) });
  if (filter !== undefined && filter !== "") params.set("filter", filter);
  if (project !== undefined) params.set("project", String(project));
  if (from !== undefined) params.set("since", String(from - 1));
  if (to !== undefined) params.set("until", String(to));
  return `requests.har?${params}`;
}

export const harName = ({ from, to }: HarWish): string =>
  from !== undefined && from === to ? `phx-sim-request-${from}.har` : "phx-sim.har";
