/** What something means, besides its words: every tone has a mark, too, as not everybody sees colours. */
export type Tone = "plain" | "good" | "odd" | "bad" | "note" | "accent";
