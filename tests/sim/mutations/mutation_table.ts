import type { Mutation } from "./mutation.ts";
import remembered from "./noticed_at.json" with { type: "json" };
import { withTable } from "./broken_table.ts";
import { simulate } from "../simulate.ts";
import { takeBroken } from "../world/broke.ts";
import { temporaryFolder } from "../../kit/temporary_folder.ts";

/** What became of a rule broken on purpose. */
export interface Caught {
  readonly name: string;
  /** Seeds within which it has to be noticed. */
  readonly within: number;
  /** The seed that noticed it; null when none did. */
  readonly seed: number | null;
  /** The rule that was found broken. */
  readonly rule: string | null;
  /** How often what is done wrong was done, in the seeds that were run. */
  readonly done: number;
}

/** A seed that noticed each mutation when one was last searched for. */
const NOTICED_AT: Readonly<Record<string, number>> = remembered;

/** The seeds to try: the one that noticed it before, then from 1. */
export function seedsOf({ name, within }: Mutation): Set<number> {
  const before = NOTICED_AT[name];
  const all = Array.from({ length: within }, (_, at) => at + 1);
  return new Set(
    before === undefined || before > within ? all : [before, ...all],
  );
}

/**
 * Runs seeds until one notices what is done wrong.
 *
 * @param mutation What is done wrong.
 */
export async function tryMutation(mutation: Mutation): Promise<Caught> {
  const { name, within } = mutation;
  takeBroken();
  for (const seed of seedsOf(mutation)) {
    const rule = await ruleBrokenAt(mutation, seed);
    if (rule !== null) return { name, within, seed, rule, done: takeBroken() };
  }
  return { name, within, seed: null, rule: null, done: takeBroken() };
}

/** Runs one seed of it, and says which rule was found broken; null when none. */
export async function ruleBrokenAt(
  { ports, table = (rows) => [...rows], onFile = false }: Mutation,
  seed: number,
): Promise<string | null> {
  await using folder = onFile ? await temporaryFolder() : null;
  const file = folder === null ? {} : { file: `${folder.path}/${seed}.db` };
  const { broken } = await withTable(
    table,
    () => simulate({ seed, ports, ...file }),
  );
  return broken?.rule ?? null;
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
