import {
  altering,
  believing,
  firstOf,
  swapping,
  walking,
  without,
} from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What people do with the ledger. */
export const UPKEEP_MUTATIONS: readonly Mutation[] = [
  {
    name: "recover from the first page, and call that proven",
    within: 40,
    ports: {
      recoverClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare the first page, and call that everything",
    within: 40,
    ports: {
      reconcileClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare claims as if they were confirmed",
    within: 40,
    ports: { reconcileLedger: believing },
  },
  {
    name: "take what is imported for news",
    within: 40,
    ports: {
      copyDriver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO imported")),
    },
  },
  {
    name: "leave the bodies of a person who was erased",
    within: 40,
    ports: {
      copyDriver: (next) =>
        without(next, (sql) => sql.startsWith("UPDATE events SET body")),
    },
  },
  {
    name: "forget the commitment of an erased body",
    within: 40,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO erasures")),
    },
  },
  {
    name: "erase the bodies of all later events as well",
    within: 40,
    ports: {
      driver: altering((statement) =>
        statement.sql.startsWith("UPDATE events SET body = NULL")
          ? {
            ...statement,
            sql: statement.sql.replace("position =", "position >="),
          }
          : statement
      ),
    },
  },
  {
    name: "copy the database's file and not the log beside it",
    within: 40,
    onFile: true,
    ports: {
      backup: (next, database) => async (path) => {
        await next(path);
        await Deno.copyFile(database ?? path, path);
      },
    },
  },
  {
    name: "swap refolded states in, however far the live ones are",
    within: 125,
    ports: { driver: swapping },
  },
];
