import type { IncompleteReason } from "../../core/wire/incomplete_reason.ts";
import type { Page } from "../../core/wire/page.ts";

/** One pass: yields pages, returns why it did not reach its end, or null. */
export type Pass<T> = () => AsyncGenerator<
  Page<T>,
  IncompleteReason | null,
  void
>;
