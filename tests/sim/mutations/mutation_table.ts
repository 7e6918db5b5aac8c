import type { Mutation } from "./mutation.ts";
import remembered from "./noticed_at.json" with { type: "json" };
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

/** A seed that noticed each mutation when one was last searched for. */
const NOTICED_AT: Readonly<Record<string, number>> = remembered;

/**
 * Runs seeds until one notices what is done wrong: the one that noticed it
 * before, then from 1.
 *
 * @param mutation What is done wrong.
 * @param first The seed to begin with; null begins with 1.
 */
export async function tryMutation(
  mutation: Mutation,
  first: number | null = NOTICED_AT[mutation.name] ?? null,
): Promise<Caught> {
  const { name, within } = mutation;
  const seeds = new Set<number>();
  if (first !== null && first <= within) seeds.add(first);
  for (let seed = 1; seed <= within; seed++) seeds.add(seed);
  for (const seed of seeds) {
    const rule = await ruleBrokenAt(mutation, seed);
    if (rule !== null) return { name, within, seed, rule };
  }
  return { name, within, seed: null, rule: null };
}

/** Runs one seed of it, and says which rule was found broken; null when none. */
export async function ruleBrokenAt(
  { ports, onFile = false }: Mutation,
  seed: number,
): Promise<string | null> {
  const folder = onFile
    ? await Deno.makeTempDir({ prefix: "rampkit-sim-" })
    : null;
  try {
    const file = folder === null ? {} : { file: `${folder}/${seed}.db` };
    const { broken } = await simulate({ seed, ports, ...file });
    return broken?.rule ?? null;
  } finally {
    if (folder !== null) await Deno.remove(folder, { recursive: true });
  }
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
