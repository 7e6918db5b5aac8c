import assert from "node:assert/strict";
import type WertWidget from "@wert-io/widget-initializer";
import type { Options } from "@wert-io/widget-initializer/types.js";
import type { WidgetInput, WidgetOptions } from "./option_rows.ts";
import { widgetOptions } from "./options.ts";
import type { WidgetOpenerOptions } from "./session_opener.ts";

type Assignable<From, To> = [From] extends [To] ? true : false;

Deno.test("WidgetOptions is assignable to the official SDK's Options", () => {
  const isAssignable: Assignable<WidgetOptions, Options> = true;
  const hasConstructor: Assignable<
    typeof WertWidget,
    WidgetOpenerOptions<WertWidget>["Widget"]
  > = true;
  const options: Options = widgetOptions(
    { partner_id: "p", session_id: "s" },
    { environment: "sandbox" },
  );
  assert.ok(isAssignable && hasConstructor);
  assert.equal(options.origin, "https://sandbox.wert.io");
});

Deno.test("WidgetInput knows every option of the official SDK", () => {
  type Missing = Exclude<keyof Options, keyof WidgetInput | "origin">;
  type Extra = Exclude<keyof WidgetInput, keyof Options>;
  const hasAll: Assignable<Missing, never> = true;
  const hasNoOther: Assignable<Extra, never> = true;
  assert.ok(hasAll && hasNoOther);
});
