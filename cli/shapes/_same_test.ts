import type { Same } from "./_same.ts";

Deno.test("Same is false for a field, an option or a case that one side lacks", () => {
  type Whole = { readonly a: string; readonly b?: number | null };
  true satisfies Same<{ a: string; b?: number | null }, Whole>;
  false satisfies Same<{ a: string }, Whole>;
  false satisfies Same<{ a: string; b: number | null }, Whole>;
  false satisfies Same<{ a: string; b?: number }, Whole>;
  false satisfies Same<Whole & { c: string }, Whole>;
  type Cases = { code: "a"; x: string } | { code: "b" };
  true satisfies Same<{ code: "b" } | { code: "a"; x: string }, Cases>;
  false satisfies Same<{ code: "b" }, Cases>;
  false satisfies Same<Cases | { code: "c" }, Cases>;
  false satisfies Same<{ list: Cases[] }, { list: readonly { code: "b" }[] }>;
});
