import assert from "node:assert/strict";
import { foundByLines } from "./order_view.ts";

Deno.test("foundByLines() says what only webhooks name with a reference", () => {
  const lines = (trust: "confirmed" | "claimed", ...alsoClaimed: string[]) =>
    foundByLines("basket-7", { trust, alsoClaimed }, null);
  assert.deepEqual(lines("confirmed"), []);
  assert.deepEqual(lines("confirmed", "F1"), [
    "",
    `Webhooks also name order F1 with "basket-7". The service has not shown ` +
    "that order under it.",
  ]);
  assert.match(
    lines("confirmed", "F1", "F2").join("\n"),
    /name 2 other orders with "basket-7".* rampkit find basket-7$/,
  );
  assert.match(lines("claimed").join("\n"), /^\nOnly webhooks name this order/);
});
