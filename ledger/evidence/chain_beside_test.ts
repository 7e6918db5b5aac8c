import assert from "node:assert/strict";
import { ChainBeside } from "./chain_beside.ts";
import type { ChainStep } from "./extend_chain.ts";

function stepTo(position: number): ChainStep {
  const state = { position, events: position, hash: "", broken: null };
  return { state, events: 10 };
}

Deno.test("ChainBeside follows as far as events are folded, and no further", async () => {
  let position = 0;
  const beside = new ChainBeside(() => {
    // One that goes on for ever fails here, and does not hang.
    if (position === 100) return Promise.reject(new Error("too far"));
    return Promise.resolve(stepTo(position += 10));
  });
  beside.follow(10);
  beside.follow(35);
  await beside.end();
  assert.equal(position, 40);
  beside.follow(45);
  await beside.end();
  assert.equal(position, 50);
});

Deno.test("ChainBeside ends where the chain is at the last event or broken", async () => {
  let steps = 0;
  const beside = new ChainBeside(() => {
    steps++;
    return Promise.resolve({ ...stepTo(5), events: 0 });
  });
  beside.follow(100);
  await beside.end();
  assert.equal(steps, 1);
});

Deno.test("ChainBeside leaves a failure to whoever extends the chain afterwards", async () => {
  let fails = true;
  const beside = new ChainBeside(() =>
    fails ? Promise.reject(new Error("disk full")) : Promise.resolve(stepTo(10))
  );
  beside.follow(10);
  await beside.end();
  fails = false;
  beside.follow(10);
  await beside.end();
});
