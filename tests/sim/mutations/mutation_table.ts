import type { Mutation } from "./mutation.ts";
import { simulate } from "../simulate.ts";

/** What became of a rule broken on purpose. */
export interface Caught {
  readonly name: string;
  /** Seeds within which it has to be noticed. */
  readonly within: number;
  /** The seed that noticed it; null when none did. */
  readonly seed: number | null;
  /** The rule that was found broken. */
  readonly rule: string | null;
}

/** Runs seeds from 1 until one notices what is done wrong. */
export async function tryMutation(mutation: Mutation): Promise<Caught> {
  const { name, within, ports, onFile = false } = mutation;
  const folder = onFile
    ? await Deno.makeTempDir({ prefix: "rampkit-sim-" })
    : null;
  try {
    for (let seed = 1; seed <= within; seed++) {
      const file = folder === null ? {} : { file: `${folder}/${seed}.db` };
      const { broken } = await simulate({ seed, ports, ...file });
      if (broken !== null) return { name, within, seed, rule: broken.rule };
    }
  } finally {
    if (folder !== null) await Deno.remove(folder, { recursive: true });
  }
  return { name, within, seed: null, rule: null };
}

/** The table for people. */
export function mutationLines(table: readonly Caught[]): string[] {
  const widest = Math.max(...table.map(({ name }) => name.length));
  return table.map(({ name, within, seed, rule }) =>
    `${name.padEnd(widest)}  ${
      seed === null
        ? `NOT CAUGHT within ${within} seeds`
        : `seed ${seed} of ${within}: ${rule}`
    }`
  );
}
