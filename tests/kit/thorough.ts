/**
 * Whether laws are tried as often as they are meant to be, which is what
 * `deno task test:long` does. A run of every test tries them less often.
 */
export const isThorough: boolean = Deno.env.get("RAMPKIT_THOROUGH") === "1";

/**
 * How often a law is tried: a fifth of the times in a run of every test.
 *
 * @param times How often in `deno task test:long`.
 */
export function tries(times: number): number {
  return isThorough ? times : Math.ceil(times / 5);
}
