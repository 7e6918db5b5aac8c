import assert from "node:assert/strict";
import { BAD_DAY, changeFaults, type Faults, NO_FAULTS } from "./faults.ts";
import { Dice } from "./_dice.ts";
import { Random } from "./_random.ts";

Deno.test("changeFaults() keeps what the change leaves out", () => {
  const bad = changeFaults(NO_FAULTS, BAD_DAY);
  const more = changeFaults(bad, { drop: 0.5, clockSkewMs: -600_000 });
  assert.deepEqual(more, { ...bad, drop: 0.5, clockSkewMs: -600_000 });
});

Deno.test("changeFaults() refuses every value that makes no sense", () => {
  const wrong: [Record<string, unknown>, typeof Error][] = [
    [{ dropp: 0.1 }, TypeError],
    [{ toString: 0.1 }, TypeError],
    [{ drop: "0.1" }, TypeError],
    [{ drop: true }, TypeError],
    [{ endpointDown: 1 }, TypeError],
    [{ drop: -0.1 }, RangeError],
    [{ drop: 1.1 }, RangeError],
    [{ drop: NaN }, RangeError],
    [{ clockSkewMs: Infinity }, RangeError],
    [{ endpointDownSpans: {} }, TypeError],
    [{ endpointDownSpans: [{ fromMs: 1 }] }, TypeError],
    [{ endpointDownSpans: [{ fromMs: 2, untilMs: 2 }] }, RangeError],
  ];
  for (const [change, kind] of wrong) {
    assert.throws(
      () => changeFaults(NO_FAULTS, change as Partial<Faults>),
      kind,
      JSON.stringify(change),
    );
  }
});

Deno.test("Dice lets one fault's rate not move another's choices", () => {
  const choices = (forge: number) => {
    const dice = new Dice(new Random(9));
    dice.set({ drop: 0.5, forge });
    return Array.from({ length: 50 }, () => {
      dice.strikes("forge");
      return dice.strikes("drop");
    });
  };
  assert.deepEqual(choices(0), choices(0.7));
});

Deno.test("Dice knows when the endpoint is down", () => {
  const dice = new Dice(new Random(1));
  dice.set({ endpointDownSpans: [{ fromMs: 10, untilMs: 20 }] });
  assert.deepEqual(
    [9, 10, 19, 20].map((at) => dice.endpointDown(at)),
    [false, true, true, false],
  );
  dice.set({ endpointDown: true });
  assert.equal(dice.endpointDown(0), true);
  dice.heal();
  assert.equal(dice.endpointDown(15), false);
});
