import assert from "node:assert/strict";
import { BAD_DAY, FaultInjector, type Faults, NO_FAULTS } from "./faults.ts";
import { Random } from "./random.ts";

Deno.test("set() keeps what the change leaves out", () => {
  const injector = new FaultInjector(new Random(1));
  injector.set(BAD_DAY);
  injector.set({ drop: 0.5, clockSkewMs: -600_000 });
  assert.deepEqual(injector.faults, {
    ...{ ...NO_FAULTS, ...BAD_DAY },
    ...{ drop: 0.5, clockSkewMs: -600_000 },
  });
});

Deno.test("set() refuses every invalid value", () => {
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
      () => new FaultInjector(new Random(1)).set(change as Partial<Faults>),
      kind,
      JSON.stringify(change),
    );
  }
});

Deno.test("FaultInjector keeps a fault's choices when another fault's rate changes", () => {
  const choices = (forge: number) => {
    const injector = new FaultInjector(new Random(9));
    injector.set({ drop: 0.5, forge });
    return Array.from({ length: 50 }, () => {
      injector.strikes("forge");
      return injector.strikes("drop");
    });
  };
  assert.deepEqual(choices(0), choices(0.7));
});

Deno.test("endpointDown() follows endpointDown and endpointDownSpans", () => {
  const injector = new FaultInjector(new Random(1));
  injector.set({ endpointDownSpans: [{ fromMs: 10, untilMs: 20 }] });
  assert.deepEqual(
    [9, 10, 19, 20].map((at) => injector.endpointDown(at)),
    [false, true, true, false],
  );
  injector.set({ endpointDown: true });
  assert.equal(injector.endpointDown(0), true);
  injector.faults = NO_FAULTS;
  assert.equal(injector.endpointDown(15), false);
});
