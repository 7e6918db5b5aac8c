import type { Fact } from "../../../resources/views/text.ts";
import { type Child, markup, NOTHING } from "../markup/markup.ts";
import { copied, outside, prose, sentence } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { orderLink, userLink } from "./order_table.ts";

/** What a fact is, as a page shows it. */
export function factText({ text, form }: Fact, nowMs: number): Child {
  if (text === null || text === "") return NOTHING;
  switch (form) {
    case "advice":
      return prose(text);
    case "name":
      return copied(text);
    case "orders":
      return text.split(", ").map((id) => markup`${orderLink(id)} `);
    case "sentence":
      return sentence(text);
    case "time":
      return when(text, nowMs);
    case "user":
      return userLink(text);
    default:
      return outside(text, 500);
  }
}
