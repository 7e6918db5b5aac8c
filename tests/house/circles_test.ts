import assert from "node:assert/strict";
import { importsOf } from "../kit/imports.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("no circle of files imports itself, types included", async () => {
  const imports = new Map<string, string[]>();
  for (const { file, target, imported } of await importsOf(root)) {
    if (!imported) continue;
    imports.set(file, [...imports.get(file) ?? [], target]);
  }
  assert.deepEqual(circlesOf(imports).map(([first]) => first), []);
});

Deno.test("circlesOf() finds a circle and leaves what only leads to it", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["b"]],
    ["d", []],
    ["e", ["e"]],
  ]);
  assert.deepEqual(circlesOf(imports), [["b", "c"], ["e"]]);
});

/** Groups of files that reach each other, by Tarjan's algorithm. */
function circlesOf(
  imports: ReadonlyMap<string, readonly string[]>,
): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    stack.push(file);
    let low = own;
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) {
        low = Math.min(low, order.get(target) ?? low);
      }
    }
    lowest.set(file, low);
    if (low === own) {
      const group = stack.splice(stack.indexOf(file));
      const alone = group.length === 1 &&
        !(imports.get(file) ?? []).includes(file);
      if (!alone) circles.push(group.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles.sort();
}
