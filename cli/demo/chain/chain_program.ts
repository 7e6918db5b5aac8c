import process from "node:process";
import { parseArgs } from "node:util";
import { UsageError } from "../../../core/settings/errors.ts";
import { guardedIo, type Io } from "../../program/io.ts";
import { processIo } from "../../program/process_io.ts";
import { reportError } from "../../program/report_error.ts";
import { showDemo } from "../show_demo.ts";

/**
 * What `rampkit demo --witness` starts in a checkout.
 *
 * @param args The flags of `demo`, which the command has checked.
 * @param terminal The terminal and clock; its signal ends the demo.
 * @returns The exit code.
 */
export async function chainProgram(
  args: readonly string[],
  terminal: Io,
): Promise<number> {
  const io = guardedIo(terminal);
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      orders: { type: "string", default: "300" },
      folder: { type: "string", default: "." },
      fresh: { type: "boolean", default: false },
      crash: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  try {
    await using chain = await startChain();
    const { seed, orders, ...flags } = values;
    return await showDemo(
      io,
      { ...flags, seed: Number(seed), orders: Number(orders) },
      chain,
    );
  } catch (error) {
    return reportError(error, io, values.json);
  }
}

async function startChain() {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    throw new UsageError(
      "Cannot run demo --witness here: its chain is anvil, which npm's " +
        "@foundry-rs/anvil-linux-amd64 has for Linux on x86-64 alone; run it " +
        "there, for example in a container",
    );
  }
  // Only here: loading it fetches anvil.
  const { startAnvilChain } = await import("./anvil_chain.ts");
  return await startAnvilChain();
}

if (import.meta.main) {
  process.exit(await chainProgram(process.argv.slice(2), processIo()));
}
