import type { Release } from "../../../ledger/mod.ts";
import { type Markup, markup } from "../markup/markup.ts";

const RELEASES: Readonly<
  Record<Release, { readonly level: string; readonly what: string }>
> = {
  yes: { level: "good", what: "the goods may be released" },
  no: { level: "bad", what: "the order ended without success" },
  wait: { level: "warn", what: "release no goods yet" },
};

/** Whether the goods may be released, in one word. */
export function releaseBadge(release: Release): Markup {
  return markup`<span class="badge ${
    RELEASES[release].level
  }">${release}</span>`;
}

/** What that word means. */
export function releaseMeaning(release: Release): string {
  return RELEASES[release].what;
}
