import type { Page } from "../../core/wire/page.ts";

/** One pass: yields pages, returns why it did not reach its end, or null. */
export type Pass<T> = () => AsyncGenerator<Page<T>, string | null, void>;
