import { describe, expect, test } from "vitest";
import { scanText } from "../../../../src/lab/tapes/redact/scan.ts";
import { hasShape, isPublic, kindOfShape, replaceShapes, shapesOf } from "../../../../src/lab/tapes/redact/shapes.ts";

/** Letters and digits without a meaning: a secret is put together here, so that none stands in this file. */
const chars = (length: number): string => "a1B2c3D4e5".repeat(9).slice(0, length);
const capitals = (length: number): string => "A1B2C3D4E5".repeat(9).slice(0, length);
const words = (length: number): string => "abcdefghij".repeat(9).slice(0, length);
const dashes = "-".repeat(5);
const pem = (name: string, end = name): string =>
  `${dashes}BEGIN ${name}${dashes}\nMII${chars(9)}\n${dashes}END ${end}${dashes}`;
const login = (text: string): string => Buffer.from(text, "latin1").toString("base64");

const found = (text: string): [kind: string, secret: string][] => {
  const taken: [string, string][] = [];
  replaceShapes(text, (kind, secret) => {
    taken.push([kind, secret]);
    return "…";
  });
  return taken;
};

/** A text in which one kind is found, and what of it is taken. `alone`: also where nothing stands before it. */
interface Row {
  kind: string;
  before: string;
  secret: string;
  after: string;
  alone: boolean;
}
const row = (kind: string, before: string, secret: string, after = "", alone = true): Row => ({
  kind,
  before,
  secret,
  after,
  alone,
});
const behind = (kind: string, before: string, secret: string, after = ""): Row =>
  row(kind, before, secret, after, false);

const secrets: Row[] = [
  ...["", "RSA ", "EC ", "A1 B2 C3 "].map((words) => row("private_key", "a ", pem(`${words}PRIVATE KEY`), " b")),
  row("private_key", "", pem("PGP PRIVATE KEY BLOCK"), "\n"),
  row("private_key", "with another end: ", `${pem("PRIVATE KEY", "A B C D PRIVATE KEY")} b`),
  row("private_key", "cut off: ", pem("PRIVATE KEY").slice(0, 40)),
  ...[
    ["c", "project_key"],
    ["x", "personal_api_key"],
    ["s", "secret_api_key"],
    ["a", "oauth_access_token"],
    ["r", "oauth_refresh_token"],
  ].flatMap(([letter, kind = ""]) => [
    row(kind, "key=", `ph${letter}_${chars(4)}`, " "),
    row(kind, "(", `ph${letter}_-_${chars(2)}`, ")"),
    row(kind, "x3D", `ph${letter}_${chars(20)}`, "/"),
  ]),
  ...["b", "d", "w", "y", "z"].flatMap((letter) => [
    row("service_key", "3", `ph${letter}_${chars(20)}`, "-"),
    row("service_key", "_", `ph${letter}_${chars(40)}`, "."),
  ]),
  row("jwt", "=", `eyJ${chars(8)}.${chars(8)}`, " "),
  row("jwt", '"', `eyJ-_${chars(6)}.-_${chars(6)}.-_${chars(3)}`, '"'),
  row("jwt", "", `eyJ${chars(8)}.${chars(8)}.`, "/"),
  ...["Bearer ", "bearer ", "Bearer%20", "bearer+", "(Bearer\t"].map((before) =>
    behind("authorization", before, chars(8), ","),
  ),
  behind("authorization", "Bearer ", `~._+/=-${chars(2)}`),
  behind("authorization", "Bearer ", words(24)),
  ...["Basic ", "basic ", "Basic%20", "basic+", "'Basic\n"].map((before) =>
    behind("authorization", before, login("me:hunter"), " "),
  ),
  behind("authorization", "Basic ", login("a:bc"), "="),
  behind("authorization", "Basic ", login("a:bc").slice(0, 6), ";"),
  behind("authorization", "Basic ", login(":abcdef")),
  behind("userinfo", "https://", "me:hunter", "@x.test/"),
  behind("userinfo", "redis://", ":hunter", "@x.test:6379"),
  behind("userinfo", "postgres://", "a:b@c", "@x.test"),
  ...["AKIA", "ASIA", "AROA", "AIDA"].map((lead) => row("aws_access_key_id", "-", `${lead}${capitals(16)}`, "-")),
  row("google_api_key", ".", `AIza-_${chars(33)}`, "."),
  row("google_oauth", " ", `ya29.-_${chars(18)}`, " "),
  ...["p", "o", "u", "s", "r"].map((letter) => row("github_token", "_", `gh${letter}_${chars(20)}`, "_")),
  row("github_token", "x", `github_pat_${chars(10)}_${chars(9)}`, "-"),
  ...["b", "p", "a"].map((letter) => row("slack_token", ":", `xox${letter}-1-_${chars(7)}`, ":")),
  behind("slack_webhook", "https://hooks.slack.com/", `services/T/B-_${chars(6)}`, "?"),
  behind("slack_webhook", "hooks.slack.com/", `workflows/${chars(10)}`, " "),
  ...["sk_live", "sk_test", "rk_live", "rk_test"].map((lead) => row("stripe_key", "_", `${lead}_${chars(10)}`, "_")),
  row("llm_key", "'", `sk-${chars(20)}`, "'"),
  row("llm_key", " ", `sk-proj-${chars(18)}_1`, " "),
  row("llm_key", " ", `sk-any-api-key-${words(9)}${chars(11)}`, "-"),
  row("llm_key", " ", `sk-ant-api03-${chars(9)}-_${chars(20)}`, " "),
  row("llm_key", " ", `sk-or-v1-${chars(64)}`, " "),
  row("llm_key", " ", `sk-${words(21)}`, " "),
  ...["shared", "embedded", "shared_dashboard"].map((part) =>
    behind("sharing_token", `/${part}/`, `${chars(1)}-_${chars(17)}`, "/"),
  ),
];

/** Texts that come near to a row, and are no secret. */
const harmless: [why: string, text: string][] = [
  ["a public key", pem("PUBLIC KEY")],
  ["four words", pem("A B C D PRIVATE KEY")],
  ["a private key's name in prose", "the BEGIN PRIVATE KEY line"],
  ...["c", "x", "s", "a", "r"].flatMap((letter): [string, string][] => [
    ["too short", `ph${letter}_${chars(3)}`],
    ["the end of a word", `graph${letter}_${chars(19)}`],
    ["the end of a number", `1ph${letter}_${chars(19)}`],
    ["no underscore", `ph${letter}-${chars(20)}`],
  ]),
  ...["b", "z"].flatMap((letter): [string, string][] => [
    ["too short", `ph${letter}_${chars(19)}`],
    ["the end of a word", `x-ralph${letter}_${chars(20)}`],
  ]),
  ["no letter of a key", `ph1_${chars(20)}`],
  ["a JWT's first part too short", `eyJ${chars(7)}.${chars(8)}`],
  ["a JWT's second part too short", `eyJ${chars(8)}.${chars(7)}`],
  ["a JWT inside a word", `aeyJ${chars(8)}.${chars(8)}`],
  ["a JWT behind a dash", `-eyJ${chars(8)}.${chars(8)}`],
  ["Bearer and a short word", `Bearer ${chars(7)}`],
  ["Bearer and a word without digits", `bearer ${words(23)}`],
  ["the end of a word: bearer", `forbearer ${chars(8)}`],
  ["Bearer without a space", `Bearer:${chars(8)}`],
  ["Basic and a word", "Basic information"],
  ["Basic and too little", `Basic ${login("a:b").slice(0, 5)}`],
  ["Basic and a login cut to five characters", "Basic YTpiY"],
  ["Basic and no ASCII before the colon", `Basic ${login("ä:hunter")}`],
  ["Basic and no ASCII behind the colon", `Basic ${login("me:hunterä")}`],
  ["the end of a word: basic", `abasic ${login("me:hunter")}`],
  ["Basic without a space", `Basic:${login("me:hunter")}`],
  ["a user without a password", "https://me@x.test/"],
  ["a port", "https://x.test:80/a@b"],
  ["a path", "https://x.test/a:b@c"],
  ["a colon in a query", "https://x.test?a:b@c"],
  ["a space", "see https://x.test or me:you@x.test"],
  ["an AWS key, one short", `AKIA${capitals(15)}`],
  ["an AWS key, one more", `AKIA${capitals(17)}`],
  ["an AWS key, a small letter more", `AKIA${capitals(16)}a`],
  ["an AWS key inside a word", `xAKIA${capitals(16)}`],
  ["another AWS id", `AGPA${capitals(16)}`],
  ["a Google key, one short", `AIza${chars(34)}`],
  ["a Google key inside a word", `xAIza${chars(35)}`],
  ["a Google token, one short", `ya29.${chars(19)}`],
  ["a Google token inside a word", `xya29.${chars(20)}`],
  ["a GitHub token, one short", `ghp_${chars(19)}`],
  ["a GitHub token inside a word", `xghp_${chars(20)}`],
  ["no letter of GitHub's", `gha_${chars(20)}`],
  ["a GitHub PAT, one short", `github_pat_${chars(19)}`],
  ["a Slack token, one short", `xoxb-${chars(9)}`],
  ["a Slack token inside a word", `axoxb-${chars(10)}`],
  ["a Slack webhook, one short", `https://hooks.slack.com/services/${chars(9)}`],
  ["another path at Slack", `https://hooks.slack.com/apps/${chars(20)}`],
  ["a Slack webhook's path elsewhere", `https://hooks.test/services/${chars(20)}`],
  ["a Stripe key, one short", `sk_live_${chars(9)}`],
  ["a Stripe key inside a word", `disk_live_${chars(10)}`],
  ["a public Stripe key", `pk_live_${chars(10)}`],
  ["no mode of Stripe's", `sk_demo_${chars(10)}`],
  ["a key of an LLM, one short", `sk-${chars(19)}`],
  ["a key of an LLM without digits", `sk-${words(20)}`],
  ["a key of an LLM with four words", `sk-a-b-c-d-${chars(20)}`],
  ["a key of an LLM inside a word", `disk-${chars(20)}`],
  ["a sharing link, one short", `/shared/${chars(19)}`],
  ["a sharing link that begins with a dash", `/shared/-${chars(19)}`],
  ["another page", `/insights/${chars(20)}`],
];

describe("what a secret looks like", () => {
  test.each(secrets)("$kind, row %$", ({ kind, before, secret, after, alone }) => {
    const text = before + secret + after;
    expect(found(text)).toEqual([[kind, secret]]);
    expect(replaceShapes(text, () => "…")).toBe(`${before}…${after}`);
    expect(hasShape(text)).toBe(true);
    expect(shapesOf(kind, text)).toEqual([secret]);
    expect(kindOfShape(secret)).toBe(alone ? kind : undefined);
    expect(kindOfShape(`so: ${secret}`)).toBe(undefined);
    // In prose that has no name for it.
    expect(scanText(`so: ${text} .`).map((it) => it.kind)).toEqual(kind === "project_key" ? [] : [kind]);
  });

  test.each(harmless)("none: %s", (_, text) => {
    expect(found(text)).toEqual([]);
    expect(hasShape(text)).toBe(false);
  });

  test("only the project key is public", () => {
    const kinds = [...new Set(secrets.map(({ kind }) => kind))];
    expect(kinds.filter(isPublic)).toEqual(["project_key"]);
    expect(isPublic("a kind that does not exist")).toBe(false);
  });

  test("all that stand in one text are found", () => {
    const stripe = `sk_live_${chars(10)}`;
    const text = `${stripe} Bearer ${words(9)} Bearer ${chars(9)} ${pem("PRIVATE KEY")} ${stripe}`;
    expect(found(text)).toEqual([
      ["private_key", pem("PRIVATE KEY")],
      ["authorization", chars(9)],
      ["stripe_key", stripe],
      ["stripe_key", stripe],
    ]);
    expect(hasShape(`Bearer ${words(9)} Bearer ${chars(9)}`)).toBe(true);
  });
});

describe("digits of a card", () => {
  const sumOf = (digits: string): number =>
    [...digits].reverse().reduce((sum, it, i) => {
      const [tens = 0, ones = 0] = [Math.floor((Number(it) * (1 + (i % 2))) / 10), Number(it) * (1 + (i % 2))];
      return sum + tens + (ones % 10);
    }, 0);
  /** Digits that begin with these and end with the right one. */
  const numberOf = (lead: string, length: number): string => {
    const digits = (lead + "9081726354".repeat(2)).slice(0, length - 1);
    return digits + ((10 - (sumOf(`${digits}0`) % 10)) % 10);
  };
  const networks: [lengths: number[], leads: string][] = [
    [[16], "40 49 51 55 2221 2229 2230 2299 2300 2699 2700 2719 2720"],
    [[15], "34 37"],
    [[16], "6011 644 649 650 659 3528 3529 3530 3589"],
    [[14], "300 305 36 38 39"],
    [[16, 17, 18, 19], "620 629"],
  ];
  const cards = networks.flatMap(([lengths, leads]) =>
    leads.split(" ").flatMap((lead) => lengths.map((length) => numberOf(lead, length))),
  );

  test.each(cards)("%s", (card) => {
    expect(found(`a ${card}.`)).toEqual([["card_number", card]]);
    expect(kindOfShape(card)).toBe("card_number");
    const last = Number(card.slice(-1));
    const wrong = card.slice(0, -1) + ((last + 1) % 10);
    expect(found(`a ${wrong}.`)).toEqual([]);
  });

  test.each([
    ...networks.flatMap(([lengths, leads]) =>
      leads.split(" ").flatMap((lead) => {
        const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
        return [numberOf(lead, shortest - 1), numberOf(lead, longest + 1), numberOf(`1${lead}`, longest + 1)];
      }),
    ),
    ..."50 56 2220 2721 643 6010 6012 660 3527 3590 61 63 1 7 8 9 0".split(" ").map((it) => numberOf(it, 16)),
    numberOf("162", 17),
    ..."33 35 36".split(" ").map((it) => numberOf(it, 15)),
    ..."306 35 37".split(" ").map((it) => numberOf(it, 14)),
  ])("not %s", (digits) => {
    expect(found(`a ${digits}.`)).toEqual([]);
  });

  const grouped = (digits: string, mark: string, ...lengths: number[]): string =>
    lengths
      .map((length, i) => {
        const at = lengths.slice(0, i).reduce((sum, it) => sum + it, 0);
        return digits.slice(at, at + length);
      })
      .join(mark);
  const visa = numberOf("4", 16);
  test.each([
    grouped(visa, " ", 4, 4, 4, 4),
    grouped(visa, "-", 4, 4, 4, 4),
    grouped(numberOf("37", 15), " ", 4, 6, 5),
    grouped(numberOf("36", 14), "-", 4, 6, 4),
  ])("in groups: %s", (card) => {
    expect(found(`(${card})`)).toEqual([["card_number", card]]);
  });

  test.each([
    grouped(visa, " ", 4, 6, 6),
    grouped(visa, " ", 4, 4, 8),
    grouped(visa, ".", 4, 4, 4, 4),
    `${visa.slice(0, 4)} ${visa.slice(4, 8)}-${visa.slice(8, 12)} ${visa.slice(12)}`,
    `${visa}-1`,
    `${visa}.5`,
    `+${visa}`,
    `-${visa}`,
    `0.${visa}`,
    `x${visa}`,
    `${visa}x`,
  ])("not in groups of another kind, or as a part: %s", (text) => {
    expect(found(`(${text})`)).toEqual([]);
  });
});

describe("account keys of Azure, by what stands before them", () => {
  const key = (length: number, end = "="): string => chars(length) + end;
  test.each(["AccountKey=", "SharedAccessKey=", ";AccountKey=", '"SharedAccessKey='])("%s", (before) => {
    for (const secret of [key(40, ""), key(40), key(86, "==")]) {
      expect(found(`${before}${secret};`)).toEqual([["azure_account_key", secret]]);
      expect(found(`${before}${secret}===`)).toEqual([["azure_account_key", `${secret.replace(/=+$/, "")}==`]]);
    }
  });

  test.each([
    `AccountKey=${chars(39)}`,
    `MyAccountKey=${chars(40)}`,
    `OtherKey=${chars(40)}`,
    `AccountKey:${chars(40)}`,
  ])("not in %s", (text) => {
    expect(found(text)).toEqual([]);
  });
});
