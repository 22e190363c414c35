import { type Sim, startSim } from "../../src/index.ts";
import { documentOf } from "../contract/document.ts";

export type ListedEndpoint = Awaited<ReturnType<Sim["endpoints"]>>[number] & {
  /** The heading under which the OpenAPI document has it. */
  readonly area: string;
};

/** Every endpoint row of a sim. */
export async function allEndpoints(): Promise<ListedEndpoint[]> {
  await using sim = await startSim();
  const { paths } = await documentOf(sim);
  return (await sim.endpoints()).map((endpoint) => {
    const item = paths[endpoint.path.replace(/:(\w+)/g, "{$1}")] ?? {};
    return { ...endpoint, area: Object.values(item)[0]?.tags[0] ?? "" };
  });
}
