import assert from "node:assert/strict";
import { draftOptions, widgetOptions, WidgetOptionsError } from "./options.ts";

const base = { partner_id: "01ABC", session_id: "s-1" };
const environment = "sandbox";

/** `code path` of every fault. */
function faults(input: object, extraOptions: object): string[] {
  try {
    widgetOptions({ ...base, ...input }, {
      environment,
      extraOptions: extraOptions as Record<string, string>,
    });
    return [];
  } catch (error) {
    assert.ok(error instanceof WidgetOptionsError, String(error));
    return error.faults.map(({ code, path }) => `${code} ${path}`);
  }
}

Deno.test("widgetOptions() passes extraOptions on as they are, new languages and currencies too", () => {
  const extraOptions = {
    lang: "pt",
    display_currency: "BRL",
    corner_radius: 4,
    has_new_button: true,
  } as const;
  const options = widgetOptions({ ...base, theme: "dark" }, {
    environment,
    extraOptions,
  });
  const { origin, ...sent } = options;
  assert.match(origin, /^https:/);
  assert.deepEqual(sent, { ...base, theme: "dark", ...extraOptions });
  const draft = draftOptions({ partner_id: "01ABC" }, {
    environment,
    extraOptions: { lang: "pt" },
  });
  assert.equal(draft.lang, "pt");
});

Deno.test("widgetOptions() applies no rule to what extraOptions name, and every rule to the rest", () => {
  assert.deepEqual(faults({ lang: "Klingon" }, { lang: "pt" }), []);
  assert.deepEqual(faults({ lang: "pt" }, { theme: "sepia" }), [
    "unlisted lang",
  ]);
  assert.deepEqual(faults({ corner_radius: 4 }, {}), ["unknown corner_radius"]);
});

Deno.test("widgetOptions() refuses extraOptions that the SDK cannot pass on, or that are not to be replaced", () => {
  assert.deepEqual(
    faults({}, { a: false, b: "", c: { d: 1 }, e: Number.NaN, f: null }),
    ["a", "b", "c", "e", "f"].map((name) => `type extraOptions.${name}`),
  );
  assert.deepEqual(
    faults({}, { origin: "https://evil.example", partner_id: "other" }),
    ["conflict extraOptions.origin", "conflict extraOptions.partner_id"],
  );
});
