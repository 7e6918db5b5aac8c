/**
 * What a reader types before another command, so that it runs the program that
 * was started and no other of its name.
 *
 * @param module Address of one of our modules.
 * @param npmCommand What npm says it was called for; `exec` through npx.
 */
export function startedAs(
  module: string,
  npmCommand: string | undefined,
): string {
  if (!module.startsWith("file:")) return "rampkit";
  if (!module.includes("/node_modules/")) return "npx -y deno@2.9.6 task";
  // The folder in which npx keeps what no project has installed.
  if (module.includes("/_npx/")) return "npx @rampkit/onramp";
  return npmCommand === "exec" ? "npx rampkit" : "rampkit";
}
