import type { Release } from "../../../ledger/mod.ts";
import { type Markup, markup } from "../markup/markup.ts";

const LEVELS: Readonly<Record<Release, string>> = {
  yes: "good",
  no: "bad",
  wait: "warn",
  unchecked: "warn",
};

/** Whether the goods may be released, in one word. */
export function releaseBadge(release: Release): Markup {
  return markup`<span class="badge ${LEVELS[release]}">${release}</span>`;
}
