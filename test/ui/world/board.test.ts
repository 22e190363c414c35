import { describe, expect, test } from "vitest";
import { boardOf } from "../../../ui/views/world/tile-layout.ts";

type Tile = Parameters<typeof boardOf>[0][number];
const tile = (id: number, place: Tile["place"]): Tile => ({
  id,
  kind: "insight",
  title: `tile ${id}`,
  color: null,
  place,
  query: null,
});

describe("where tiles lie on a board of twelve columns", () => {
  const rows: [what: string, places: Tile["place"][], expected: [column: string, row: string][]][] = [
    ["none", [], []],
    [
      "as someone laid them",
      [
        { x: 0, y: 0, w: 6, h: 5 },
        { x: 6, y: 0, w: 6, h: 10 },
      ],
      [
        ["1 / span 6", "1 / span 2"],
        ["7 / span 6", "1 / span 4"],
      ],
    ],
    [
      "loose ones two in a row, below the others",
      [{ x: 0, y: 0, w: 12, h: 5 }, null, null, null],
      [
        ["1 / span 12", "1 / span 2"],
        ["1 / span 6", "3 / span 2"],
        ["7 / span 6", "3 / span 2"],
        ["1 / span 6", "5 / span 2"],
      ],
    ],
    ["off the board: at its edge", [{ x: 40, y: -3, w: 99, h: 0 }], [["12 / span 1", "1 / span 1"]]],
    ["absurdly far down", [{ x: 0, y: 1e9, w: 3, h: 1e9 }], [["1 / span 3", "501 / span 8"]]],
  ];
  test.each(rows)("%s", (_what, places, expected) => {
    const placed = boardOf(places.map((place, i) => tile(i, place)));
    expect(placed.map(({ column, row }) => [column, row])).toEqual(expected);
  });
});
