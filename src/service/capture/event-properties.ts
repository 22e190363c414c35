import type { StoredProject } from "../../state/documents/world.ts";
import { chainOf } from "./elements.ts";
import type { Item } from "./item.ts";

const without = (item: Item, name: string): void => {
  item.strips = [...(item.strips ?? []), name];
};

/** Old SDKs send elements as a list, which the service keeps as text. */
function joinElements(item: Item): void {
  const { $elements, $elements_chain } = item.properties;
  if ($elements === undefined) return;
  without(item, "$elements");
  if (!$elements_chain) item.adds = { ...item.adds, $elements_chain: chainOf($elements) };
}

/**
 * What the service adds to the properties of an event, or does not keep of them. Upstream ingestion pipeline:
 * extract-heatmap-data, prepare-event and create-event steps.
 */
export function settleProperties(item: Item, { settings }: StoredProject): void {
  joinElements(item);
  // of `$$heatmap` itself they are all there is to see
  if (item.event !== "$$heatmap" && item.properties.$heatmap_data !== undefined) without(item, "$heatmap_data");
  if (settings.anonymize_ips === true) without(item, "$ip");
}
