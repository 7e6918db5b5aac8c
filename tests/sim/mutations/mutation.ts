import type { TableChange } from "./broken_table.ts";
import type { Ports } from "../world/ports.ts";

/** A rule broken on purpose, to see that the simulator notices. */
export interface Mutation {
  /** What is done wrong, in a few words. */
  readonly name: string;
  /** Seeds, from 1, within which it has to be noticed. */
  readonly within: number;
  /** The ports that do it. */
  readonly ports: Partial<Ports>;
  /** The table of outcomes that it goes by. @default {the true one} */
  readonly table?: TableChange;
  /** Whether it takes a database in a file. @default false */
  readonly onFile?: boolean;
}
