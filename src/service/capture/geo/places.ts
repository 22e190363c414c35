import { type IpAddress, isInNetwork, type Network, parseAddress, parseNetwork } from "../../../kernel/base/network.ts";
import type { PlaceRow } from "../../../state/documents/world.ts";
import type { GeoPlace, Places } from "../../../state/journal/places.ts";

/** What a geographic database knows; the address is a public one. */
export type PlaceLookup = (address: IpAddress) => GeoPlace | undefined;

interface PlaceSources {
  /** The rows as they are now; another list when they have changed. The first row that fits counts. */
  rows(): readonly PlaceRow[];
  lookup?: PlaceLookup | undefined;
}

/** Networks that no geographic database knows: this host, private ones, link-local ones. */
const privateRanges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::/127",
  "fc00::/7",
  "fe80::/10",
];

/** Read on first need: the first IPv6 address that a process looks at costs 8 ms, and most sims need none. */
function createPrivateTest(): (address: IpAddress) => boolean {
  let networks: readonly Network[] | undefined;
  return (address) => {
    networks ??= privateRanges.flatMap((text) => parseNetwork(text) ?? []);
    return networks.some((network) => isInNetwork(address, network));
  };
}

interface Row {
  readonly network: Network;
  readonly place: GeoPlace;
}

function readRow({ address, ...place }: PlaceRow): Row[] {
  const network = parseNetwork(address);
  return network === undefined ? [] : [{ network, place: Object.freeze(place) }];
}

/** No address is longer; a zone may be. */
const longestText = 64;

/** The senders of a test run are few; more of them cost a look-up each. */
const mostRemembered = 4096;

/** Places from rows, then from a database. Loopback and private addresses have none, unless a row has them. */
export function createPlaces({ rows, lookup }: PlaceSources): Places {
  let read: readonly Row[] = [];
  let readFrom: readonly PlaceRow[] | undefined;
  const remembered = new Map<string, GeoPlace | undefined>();
  const isPrivate = createPrivateTest();

  function refresh(): void {
    const now = rows();
    if (now === readFrom) return;
    read = now.flatMap(readRow);
    readFrom = now;
    remembered.clear();
  }

  function find(text: string): GeoPlace | undefined {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const row = read.find(({ network }) => isInNetwork(address, network));
    if (row !== undefined) return row.place;
    return isPrivate(address) ? undefined : lookup?.(address);
  }

  return {
    get isEmpty() {
      return lookup === undefined && rows().length === 0;
    },
    placeOf(text) {
      if (text.length > longestText) return undefined;
      refresh();
      if (remembered.has(text)) return remembered.get(text);
      if (remembered.size >= mostRemembered) remembered.clear();
      const place = find(text);
      remembered.set(text, place);
      return place;
    },
  };
}
